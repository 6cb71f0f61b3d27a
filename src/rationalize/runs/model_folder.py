"""Save and load model folders: safetensors, JSON, tokenizer, card and a manifest of hashes; no pickle."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import Field

from rationalize.config import EncoderConfig, Precision, RunConfig, Strict, validate
from rationalize.devices import resolve_device
from rationalize.errors import ConfigError, ModelFormatError
from rationalize.files import atomic_dir, read_bounded_json, write_json, write_text
from rationalize.inference.confidence import ConfidenceRule, MinConfidence, make_rule
from rationalize.inference.engine import Engine
from rationalize.methods.base import Method
from rationalize.methods.registry import method_class
from rationalize.models.encoder import EncoderFactory, describe_architecture
from rationalize.models.onnx_encoder import OnnxExport
from rationalize.models.reading import Encoder
from rationalize.models.tokenizer import save_tokenizer
from rationalize.models.weights import collect_weights, load_weights, save_tensors
from rationalize.runs._graphs import attach_graphs, choose_place, save_graphs
from rationalize.runs._model_check import (
    NEEDED,
    WEIGHTS,
    check_model_folder,
    check_tokenizer_config,
    describe_tensors,
)
from rationalize.runs._model_signature import Key, check_signature, sign_folder
from rationalize.runs._untrusted import blame, check_finite, check_fit
from rationalize.runs.provenance import Provenance
from rationalize.runs.settings import resolve_config
from rationalize.text.windows import TextEncoder
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example
from rationalize.version import __version__

SCHEMA = 2
"""2 added `provenance`."""


class ConfidenceRecord(Strict):
    """How sure a model is, as found on dev."""

    temperature: Annotated[float, Field(gt=0)]
    """What its probabilities are tempered by."""
    n: int
    """Labeled dev examples."""
    ece: float
    """Expected calibration error on dev before."""
    ece_calibrated: float
    """The same after; the temperature was fitted on these very examples."""


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
    confidence: ConfidenceRecord | None = None
    """How sure it is; None: never found out, and probabilities are taken as they are."""
    export: OnnxExport | None = None
    """Its graphs, if it was exported; None: it runs in torch."""

    def to_run_config(self, device: str) -> RunConfig:
        """Return the settings to train such a model again, as far as they are known."""
        values: dict[str, Any] = {"method": self.method, "options": self.options, "encoder": self.encoder}
        if self.provenance is not None:
            origin = self.provenance
            values |= {name: getattr(origin, name) for name in ("seed", "shortcuts", "augment")}
            values["training"] = origin.training.model_copy(update={"teacher": None})  # which may be gone
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
        self.method.to(choose_place(str(device), resolve_device(str(device)), self.config.export))
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

    def engine(
        self,
        *,
        oracle_label: bool = False,
        batch_tokens: int | None = None,
        min_confidence: MinConfidence | None = None,
        precision: Precision = "fp32",
    ) -> Engine:
        """Make an engine that explains texts with this model; see `Engine` for the settings."""
        return Engine(
            self.method,
            self.text,
            self.config.labels,
            oracle_label=oracle_label,
            batch_tokens=batch_tokens,
            rule=self.make_rule(min_confidence),
            precision=precision,
        )

    def make_rule(self, min_confidence: MinConfidence | None = None) -> ConfidenceRule:
        """Make the rule that says how sure a label is, and withholds it below a wanted confidence."""
        found = self.config.confidence
        return make_rule(found.temperature if found else 1.0, min_confidence, self.config.labels)


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


def save_model(folder: Path, model: Model, card: str, *, sign: Key | None = None) -> None:
    """Write a model folder; replace an old one only when the new one is complete.

    Args:
        folder: The folder.
        model: The model.
        card: Its card, Markdown.
        sign: A private key to sign it with.
    """
    seal = None if sign is None else partial(sign_folder, key=sign)
    encoder = next(module for module in model.method.modules() if isinstance(module, Encoder))
    with atomic_dir(folder, seal) as part:
        weights = {name: tensor.cpu() for name, tensor in collect_weights(model.method).items()}
        save_tensors(weights, part / WEIGHTS)
        save_tokenizer(model.tokenizer, part / "tokenizer")
        write_json(part / "config.json", model.config.model_dump(mode="json"))
        write_json(part / "encoder.json", describe_architecture(encoder))
        write_text(part / "README.md", card)
        save_graphs(model.method, part)


def load_model(folder: Path, device: torch.device | str = "cpu", *, trust: Key | None = None) -> Model:
    """Load a model folder, or a run folder's model, to a device.

    The folder may come from anybody: nothing in it is run, and what does not fit is refused before it takes memory.

    Args:
        folder: The folder.
        device: Where to run it.
        trust: A public key; the model must be signed by its owner.

    Raises:
        ModelFormatError: If the folder is damaged, incomplete, not what a model is, or not signed as asked for.
    """
    place = resolve_device(str(device))
    if not folder.is_dir():
        raise ModelFormatError(f"{folder}: no such model folder. Expected a folder written by training.")
    folder = find_model(folder)
    if trust is not None:
        check_signature(folder, trust)
    check_model_folder(folder)
    config = _read_model_config(folder / "config.json")
    tokenizer = _load_tokenizer(folder / "tokenizer")
    weights = folder / WEIGHTS
    factory = EncoderFactory(config.encoder, tokenizer, saved=folder, export=config.export)
    with blame(folder / "config.json"):
        check_fit(lambda: build_method(config, factory), describe_tensors(weights), weights)
        method = build_method(config, factory)
    with blame(weights), torch.no_grad():
        from safetensors.torch import load_file

        tensors = load_file(weights)
        check_finite(tensors, weights)
        load_weights(method, tensors, str(weights))
    attach_graphs(method, config.export, folder)
    model = Model(config, method.eval(), tokenizer)
    _try_out(model, folder)
    return replace(model, method=model.method.to(choose_place(str(device), place, config.export)))


def find_model(folder: Path) -> Path:
    """Return the model folder inside a run folder; any other folder as it is."""
    inside = folder / "model"
    return inside if (inside / "config.json").is_file() else folder


def _read_model_config(path: Path) -> ModelConfig:
    raw = read_bounded_json(path, NEEDED["config.json"], ModelFormatError)
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA or isinstance(version, bool):
        writer = raw.get("package_version") if isinstance(raw, dict) else None
        raise ModelFormatError(
            f"{path}: schema_version {str(version)[:40]!r}, expected {SCHEMA} (which added `provenance`). Version "
            f"{str(writer)[:40]!r} wrote this model; this is {__version__}. "
            "Load it with that version, or train it again."
        )
    try:
        config: ModelConfig = validate(ModelConfig, raw, str(path))
    except ConfigError as error:
        raise ModelFormatError(str(error)) from None
    if len(set(config.labels)) != len(config.labels) or len(config.labels) < 2:
        raise ModelFormatError(f"{path}: labels: expected two or more different names.")
    return config


def _load_tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    check_tokenizer_config(folder / "tokenizer_config.json")
    with blame(folder / "tokenizer.json"):
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
    return tokenizer


def _try_out(model: Model, folder: Path) -> None:
    """Explain one short text: what cannot is refused now, not in the middle of somebody's work."""
    with blame(folder), torch.random.fork_rng():
        [found] = model.engine().explain([Example("0", "One short text, to see.", query="Is it one?")])
        numbers = [*found.explanation.probabilities.values(), *found.explanation.scores]
        if not all(map(math.isfinite, numbers)):
            raise ModelFormatError(f"{folder / WEIGHTS}: gives scores that are not finite numbers.")
