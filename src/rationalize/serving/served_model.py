"""What the service asks of a model, and the one place that knows how a saved one is loaded and called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rationalize.types import Example, Explanation

if TYPE_CHECKING:
    from rationalize.inference.engine import Engine


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What callers may know of a model."""

    method: str
    faithful: bool
    labels: tuple[str, ...]
    encoder: str
    max_tokens: int
    reads_query: bool
    package_version: str


class ServedModel(Protocol):
    """A model in memory. It is loaded, called and dropped by one thread only."""

    @property
    def facts(self) -> ModelFacts:
        """What it is."""

    def explain(self, examples: Sequence[Example], *, truncate: bool) -> list[Explanation]:
        """One explanation per example, in order."""

    def predict(self, examples: Sequence[Example], *, truncate: bool) -> list[dict[str, float]]:
        """The class probabilities of each example, in order."""


Loader = Callable[[Path, str], ServedModel]
"""Loads the model of a folder onto a device, after checking that the folder is whole."""


class _EngineModel:
    def __init__(self, engine: Engine, facts: ModelFacts) -> None:
        self._engine = engine
        self.facts = facts

    def explain(self, examples: Sequence[Example], *, truncate: bool) -> list[Explanation]:
        return [item.explanation for item in self._engine.explain(examples, truncate=truncate)]

    def predict(self, examples: Sequence[Example], *, truncate: bool) -> list[dict[str, float]]:
        encoded = [self._engine.text.encode(example, truncate=truncate) for example in examples]
        return self._engine.probabilities(encoded)


def load_served_model(folder: Path, device: str) -> ServedModel:
    """Load a model folder or the model of a run folder; a damaged one is refused."""
    from rationalize.runs.model_folder import load_model

    model = load_model(folder, device)
    config, encoder = model.config, Path(model.config.encoder.name)
    facts = ModelFacts(
        method=config.method,
        faithful=model.method.faithful,
        labels=tuple(config.labels),
        encoder=encoder.name
        if encoder.is_absolute()
        else str(encoder),  # a folder of ours is nobody's business
        max_tokens=config.encoder.max_tokens,
        reads_query=config.use_query,
        package_version=config.package_version,
    )
    return _EngineModel(model.engine(), facts)
