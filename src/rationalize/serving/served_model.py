"""What the service asks of a model, and the one place that knows how a saved one is loaded and called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rationalize.errors import ConfigError
from rationalize.types import Example, Explanation

if TYPE_CHECKING:
    from torch import nn

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

    model = load_model(folder)
    _move(model.method, device)
    config = model.config
    facts = ModelFacts(
        method=config.method,
        faithful=model.method.faithful,
        labels=tuple(config.labels),
        # A local encoder's folder is nobody's business.
        encoder=Path(config.encoder.name).name
        if Path(config.encoder.name).is_absolute()
        else config.encoder.name,
        max_tokens=config.encoder.max_tokens,
        reads_query=config.use_query,
        package_version=config.package_version,
    )
    return _EngineModel(model.engine(), facts)


def _move(module: nn.Module, device: str) -> None:
    import torch

    name = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    try:
        module.to(name)
    except (RuntimeError, AssertionError) as error:  # torch raises either where a device is not there
        reason = str(error).partition("\n")[0]
        raise ConfigError(
            f"device {device!r} cannot be used: {reason}. Expected auto, cpu, or a device of this machine.",
            field="device",
        ) from None
