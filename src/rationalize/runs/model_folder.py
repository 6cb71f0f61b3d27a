"""Save and load model folders: safetensors, JSON, tokenizer, card and a manifest of hashes; no pickle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from rationalize.config import EncoderConfig, RunConfig, Strict, validate
from rationalize.devices import resolve_device
from rationalize.errors import ModelFormatError
from rationalize.files import atomic_dir, read_json, verify_dir, write_json, write_text
from rationalize.inference.engine import Engine
from rationalize.methods.base import Method
from rationalize.methods.registry import method_class
from rationalize.models.encoder import EncoderFactory, describe_architecture
from rationalize.models.reading import Encoder
from rationalize.models.weights import collect_weights, load_weights
from rationalize.runs.provenance import Provenance
from rationalize.runs.settings import resolve_config
from rationalize.text.windows import TextEncoder
from rationalize.text.words import PLAIN, WordRule
from rationalize.version import __version__

SCHEMA = 2
"""2 added `provenance`."""


class ModelConfig(Strict):
    """`config.json` of a model folder."""

    schema_version: int = SCHEMA
    method: str
    options: dict[str, Any]
    labels: list[str]
    encoder: EncoderConfig
    use_query: bool
    words: WordRule = PLAIN
    package_version: str = __version__
    provenance: Provenance | None = None
    """Its training settings, its data and its dev scores; None: no run trained it."""

    def to_run_config(self, device: str) -> RunConfig:
        """Return the settings to train such a model again, as far as they are known."""
        values: dict[str, Any] = {"method": self.method, "options": self.options, "encoder": self.encoder}
        if self.provenance is not None:
            origin = self.provenance
            values |= {name: getattr(origin, name) for name in ("seed", "training", "shortcuts", "augment")}
            values["data"] = {"gold_share": origin.data.gold_share}
        return resolve_config(RunConfig(**values, device=device))


@dataclass(frozen=True)
class Model:
    """A trained method with its config and tokenizer."""

    config: ModelConfig
    method: Method
    tokenizer: Any

    def to(self, device: torch.device | str) -> Model:
        """Move the model to a device (auto, cpu, cuda, cuda:1 …, mps) and return it.

        Raises:
            ConfigError: If this machine has no such device.
        """
        self.method.to(resolve_device(str(device)))
        return self

    @cached_property
    def text(self) -> TextEncoder:
        """Cuts texts into the windows that this model reads."""
        return TextEncoder(
            self.tokenizer,
            self.config.encoder.max_tokens,
            use_query=self.config.use_query,
            words=self.config.words,
        )

    def engine(self, *, oracle_label: bool = False, batch_tokens: int | None = None) -> Engine:
        """Make an engine that explains texts with this model; see `Engine` for the settings."""
        return Engine(
            self.method, self.text, self.config.labels, oracle_label=oracle_label, batch_tokens=batch_tokens
        )


def build_method(config: ModelConfig, encoders: EncoderFactory) -> Method:
    """Build the method's untrained module."""
    cls = method_class(config.method)
    options = validate(cls.Config, config.options, f"options of {config.method}")
    return cls(options, encoders, len(config.labels))


def render_plain_card(config: ModelConfig) -> str:
    """Render a minimal model card; `reporting.card.render_card` renders a full one."""
    return (
        f"# {config.method}\n\nA text classifier with rationales, by rationalize {config.package_version}.\n"
    )


def save_model(folder: Path, model: Model, card: str) -> None:
    """Write a model folder; replace an old one only when the new one is complete."""
    from safetensors.torch import save_file

    encoder = next(module for module in model.method.modules() if isinstance(module, Encoder))
    with atomic_dir(folder) as part:
        weights = {name: tensor.contiguous().cpu() for name, tensor in collect_weights(model.method).items()}
        save_file(weights, part / "model.safetensors")
        model.tokenizer.backend_tokenizer.no_truncation()  # or a length that somebody cut to would be saved
        model.tokenizer.backend_tokenizer.no_padding()
        model.tokenizer.save_pretrained(part / "tokenizer")
        write_json(part / "config.json", model.config.model_dump(mode="json"))
        write_json(part / "encoder.json", describe_architecture(encoder))
        write_text(part / "README.md", card)


def load_model(folder: Path, device: torch.device | str = "cpu") -> Model:
    """Load a model folder, or a run folder's model, to a device.

    Raises:
        ModelFormatError: If the folder is damaged or incomplete.
    """
    from safetensors.torch import load_file
    from transformers import AutoTokenizer

    place = resolve_device(str(device))
    if not folder.is_dir():
        raise ModelFormatError(f"{folder}: no such model folder. Expected a folder written by training.")
    folder = folder / "model" if (folder / "model" / "config.json").is_file() else folder
    verify_dir(folder, ModelFormatError, "Copy the model again, or train it again.")
    raw = read_json(folder / "config.json")
    if raw.get("schema_version") != SCHEMA:
        raise ModelFormatError(
            f"{folder / 'config.json'}: schema_version {raw.get('schema_version')!r}, expected {SCHEMA} (which added "
            f"`provenance`). Version {raw.get('package_version')!r} wrote this model; this is {__version__}. "
            "Load it with that version, or train it again."
        )
    config: ModelConfig = validate(ModelConfig, raw, str(folder / "config.json"))
    tokenizer = AutoTokenizer.from_pretrained(
        folder / "tokenizer", trust_remote_code=False, local_files_only=True
    )
    method = build_method(config, EncoderFactory(config.encoder, tokenizer, saved=folder))
    with torch.no_grad():
        load_weights(method, load_file(folder / "model.safetensors"), str(folder / "model.safetensors"))
    return Model(config, method.eval().to(place), tokenizer)
