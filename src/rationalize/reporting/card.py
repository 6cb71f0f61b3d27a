"""The model card: the README.md of a saved model folder, in Markdown with Hugging Face's front matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from rationalize.evaluation.evaluation import Evaluation
from rationalize.evaluation.verdict import judge
from rationalize.reporting.detail_tables import make_class_table, make_confidence_table
from rationalize.reporting.result_table import metric_table, warnings_of
from rationalize.reporting.templating import render
from rationalize.version import __version__

if TYPE_CHECKING:
    from rationalize.runs.model_folder import ModelConfig
    from rationalize.runs.provenance import DataFacts, Provenance

SUPERVISION = {
    "none": "no gold rationales: learned from labels alone",
    "part": "gold rationales on a part of the training examples, labels on all",
    "full": "gold rationales on all training examples",
}


@dataclass(frozen=True, slots=True)
class CardInfo:
    """The content of a model card.

    Attributes:
        method: Id of the method.
        method_title: The method's name in papers.
        headline: How the method works, in one line.
        reference: Where it was published.
        supervision: none, part or full.
        faithful: Whether the label depends on the selected words alone.
        labels: The classes.
        encoder: Name of the encoder, and how many of its layers were kept if not all.
        max_tokens: Word pieces that the encoder reads at once.
        reads_query: Whether the model also reads a query.
        training_data: What it was trained on, in plain sentences.
        training: How it was trained, in plain sentences.
        results: Results on dev, if any.
        warnings: What was doubtful before the training, in plain sentences.
        seed: Seed of the training run.
        temperature: What its probabilities are tempered by, if that was found on dev.
        license: License of the weights, as an SPDX id, if known.
        version: Version of the package that wrote it.
    """

    method: str
    method_title: str
    headline: str
    reference: str
    supervision: str
    faithful: bool
    labels: tuple[str, ...]
    encoder: str
    max_tokens: int
    reads_query: bool = False
    training_data: tuple[str, ...] = ()
    training: tuple[str, ...] = ()
    results: Evaluation | None = None
    warnings: tuple[str, ...] = ()
    seed: int | None = None
    temperature: float | None = None
    license: str | None = None
    version: str = __version__


def format_card(info: CardInfo) -> str:
    """Format the card as Markdown; text from users is escaped."""
    results = {info.method: info.results} if info.results else {}
    return render(
        "card.md.j2",
        info=info,
        front_matter=yaml.safe_dump(_make_front_matter(info), sort_keys=False, allow_unicode=True).strip(),
        supervision=SUPERVISION[info.supervision],
        table=metric_table(results, title="") if results else None,
        classes=make_class_table(results),
        confidence=make_confidence_table(results),
        verdict=judge(info.results) if info.results else None,
        warnings=[*info.warnings, *(text for _, text in warnings_of(results))],
    )


def _make_front_matter(info: CardInfo) -> dict[str, Any]:
    fields = {
        "library_name": "rationalize",
        "pipeline_tag": "text-classification",
        "license": info.license,
        "tags": ["rationalize", "rationalization", "explainability", "text-classification", info.method],
        "metrics": ["f1"] if info.results else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def render_card(config: ModelConfig) -> str:
    """Render a model's card from its config alone, so that it survives loading and saving."""
    from rationalize.methods.registry import method_class

    about, origin = method_class(config.method).about, config.provenance
    results = Evaluation.from_dict(origin.dev) if origin else None
    measured = results.faithful if results else None
    info = CardInfo(
        method=about.name,
        method_title=about.title,
        headline=about.headline,
        reference=about.reference,
        supervision=about.supervision,
        faithful=about.faithful if measured is None else measured,
        labels=tuple(config.labels),
        encoder=_describe_encoder(config),
        max_tokens=config.encoder.max_tokens,
        reads_query=config.use_query,
        training_data=_describe_data(origin.data) if origin else (),
        training=_describe_training(origin) if origin else (),
        results=results,
        warnings=origin.warnings if origin else (),
        seed=origin.seed if origin else None,
        temperature=config.confidence.temperature if config.confidence else None,
        version=config.package_version,
    )
    return format_card(info)


def _describe_encoder(config: ModelConfig) -> str:
    encoder, export = config.encoder, config.export
    notes = [] if encoder.keep_layers is None else [f"its first {encoder.keep_layers} layers"]
    if export is not None:
        notes.append(f"exported to ONNX, {'8 bits' if export.int8 else 'single precision'}")
    return f"{encoder.name} ({', '.join(notes)})" if notes else encoder.name


def _describe_data(data: DataFacts) -> tuple[str, ...]:
    """Describe the training data in plain sentences."""
    name = f"{data.name}: " if data.name else ""
    size = f"{data.n_train} training examples, {data.n_gold} of them with a gold rationale"
    return (
        f"{name}{size}; {data.n_dev} dev examples to choose the epoch on.",
        *(f"{note}." for note in data.notes),
        f"SHA-256 of these data: {data.fingerprint}.",
    )


def _describe_training(origin: Provenance) -> tuple[str, ...]:
    """Describe the training in plain sentences."""
    chosen = origin.training
    sentences = [
        f"{chosen.epochs} epochs, batches of {chosen.batch_size}, learning rate {chosen.learning_rate:g}."
    ]
    if origin.extended_from:
        planned = ", then ".join(map(str, origin.extended_from))
        sentences.append(
            f"The run was planned for {planned} epochs and then extended: the learning rate rose again."
        )
    if chosen.warm_start:
        sentences.append(f"Encoders started from a classifier trained for {chosen.warm_start} epochs.")
    if chosen.teacher is not None:
        sentences.append(
            f"Distilled: its selector learned to select as the model {chosen.teacher!r} does, from texts alone; all "
            "other weights are that model's."
        )
    if origin.augment.kind != "none":
        share = f"{origin.augment.share:g}"
        sentences.append(f"Augmented with {origin.augment.kind} copies, {share} of the training examples.")
    if origin.preset:
        part = f", with its part for {origin.preset.data}" if origin.preset.data else ""
        sentences.append(f"Preset {origin.preset.name}{part}.")
    sentences.append(f"Trained on {origin.device} ({origin.platform}).")
    return tuple(sentences)
