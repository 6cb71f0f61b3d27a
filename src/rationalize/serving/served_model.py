"""The service's interface to a model, and the one place that loads saved models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rationalize.types import Example, Explanation

if TYPE_CHECKING:
    from rationalize.config import Precision
    from rationalize.inference.confidence import MinConfidence
    from rationalize.inference.engine import Engine


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model's description for callers."""

    method: str
    faithful: bool
    labels: tuple[str, ...]
    encoder: str
    max_tokens: int
    reads_query: bool
    package_version: str
    temperature: float = 1.0
    min_confidence: Mapping[str, float] = field(default_factory=dict)


class ServedModel(Protocol):
    """A model in memory. Only one thread loads, calls and drops it."""

    @property
    def facts(self) -> ModelFacts:
        """Its description."""

    def explain(self, examples: Sequence[Example], *, truncate: bool) -> list[Explanation]:
        """Return one explanation per example, in order."""

    def predict(self, examples: Sequence[Example], *, truncate: bool) -> list[dict[str, float]]:
        """Return the class probabilities of each example, in order."""


Loader = Callable[[Path, str], ServedModel]
"""Loads a folder's model onto a device, after checking that the folder is intact."""


class _EngineModel:
    def __init__(self, engine: Engine, facts: ModelFacts) -> None:
        self._engine = engine
        self.facts = facts

    def explain(self, examples: Sequence[Example], *, truncate: bool) -> list[Explanation]:
        return [item.explanation for item in self._engine.explain(examples, truncate=truncate)]

    def predict(self, examples: Sequence[Example], *, truncate: bool) -> list[dict[str, float]]:
        return list(self._engine.predict(examples, truncate=truncate))


def load_served_model(
    folder: Path,
    device: str,
    trust: Path | None = None,
    min_confidence: MinConfidence | None = None,
    precision: Precision = "fp32",
) -> ServedModel:
    """Load a model folder or a run folder's model; refuse a damaged one, or one not signed by the trusted key."""
    from rationalize.runs.model_folder import load_model

    model = load_model(folder, device, trust=trust)
    engine = model.engine(min_confidence=min_confidence, precision=precision)
    config, encoder = model.config, Path(model.config.encoder.name)
    facts = ModelFacts(
        method=config.method,
        faithful=model.method.faithful,
        labels=tuple(config.labels),
        encoder=encoder.name if encoder.is_absolute() else str(encoder),  # callers need not see our folders
        max_tokens=config.encoder.max_tokens,
        reads_query=config.use_query,
        package_version=config.package_version,
        temperature=engine.rule.temperature,
        min_confidence=engine.rule.floors,
    )
    return _EngineModel(engine, facts)
