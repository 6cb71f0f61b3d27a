"""Models to measure: untrained ones for speed alone, and trained ones for speed beside quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rationalize.config import RunConfig
from rationalize.rationalizer import Rationalizer
from rationalize.runs.build import build_untrained
from rationalize.runs.model_export import export_model
from rationalize.runs.model_folder import Model, load_model, render_plain_card
from rationalize.runs.run_folder import read_record
from rationalize.runs.settings import resolve_config
from rationalize.runs.training_data import make_training_data
from rationalize.types import Example

ATTENTION: dict[str, Any] = {"masking": "attention", "sampler": "gumbel_hard"}
"""A selection whose hidden pieces need not be read."""


@dataclass(frozen=True)
class EncoderChoice:
    """The encoder of a run of the benchmark, and where its models are kept.

    Attributes:
        name: minilm, or tiny in tests.
        depth: Its layers.
        shallow: Depths that a selection ends at, besides all layers.
        folder: Where trained and exported models are kept.
    """

    name: str
    folder: Path

    @property
    def depth(self) -> int:
        """Its layers."""
        return 2 if self.name == "tiny" else 6

    @property
    def shallow(self) -> tuple[int, ...]:
        """Depths at which a selection may end, besides all layers."""
        return (1,) if self.name == "tiny" else (3, 2)


def configure(method: str, encoder: str, max_tokens: int, **settings: Any) -> RunConfig:
    """Return a resolved config; settings are sections by name."""
    config = RunConfig(
        method=method, **{"encoder": {"name": encoder, "max_tokens": max_tokens}, "device": "cpu", **settings}
    )
    return resolve_config(config)


def build_selector(
    encoder: str, examples: Sequence[Example], max_tokens: int, *, method: str = "un_rat", **selection: Any
) -> Model:
    """Build an untrained model that selects a fifth of each text."""
    chosen = {"decoding": "topk", "share": 0.2, **selection}
    config = configure(method, encoder, max_tokens, options={"selection": chosen})
    return build_untrained(config, make_training_data(config, examples, examples[:4]))


def build_classifier(encoder: str, examples: Sequence[Example], max_tokens: int) -> Model:
    """Build an untrained classifier of full texts."""
    config = configure("full_text", encoder, max_tokens)
    return build_untrained(config, make_training_data(config, examples, examples[:4]))


def export_int8(model: Model, folder: Path) -> Model:
    """Export a model to graphs in 8 bits, unless that was done before, and load it."""
    if not (folder / "config.json").is_file():
        export_model(model, folder, render_plain_card, int8=True)
    return load_model(folder)


def train_once(folder: Path, source: Path, method: str, encoder: str, /, **settings: Any) -> Model:
    """Train a model, or continue or load the one in the folder."""
    if read_record(folder) is not None:
        return Rationalizer.resume(folder, quiet=True).model
    found = Rationalizer(method, encoder, device="cpu", **settings)
    return found.fit(str(source), folder=folder, quiet=True).model
