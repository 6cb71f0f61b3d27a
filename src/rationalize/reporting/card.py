"""The model card: the README.md of a saved model folder, in Markdown with Hugging Face's front matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from rationalize.evaluation.evaluation import Evaluation
from rationalize.reporting.metric_table import metric_table, warnings_of
from rationalize.reporting.templating import render
from rationalize.version import __version__

if TYPE_CHECKING:
    from rationalize.config import RunConfig
    from rationalize.runs.model_folder import ModelConfig
    from rationalize.runs.training_data import TrainingData

SUPERVISION = {
    "none": "no gold rationales: learned from labels alone",
    "part": "gold rationales on a part of the training examples, labels on all",
    "full": "gold rationales on all training examples",
}


@dataclass(frozen=True, slots=True)
class CardInfo:
    """What a model card says.

    Attributes:
        method: Id of the method.
        method_title: The name that papers use.
        headline: How the method works, in one line.
        reference: Where it was published.
        supervision: none, part or full.
        faithful: Whether the label depends on the selected words alone.
        labels: The classes.
        encoder: Name of the encoder.
        max_tokens: Word pieces that the encoder reads at once.
        reads_query: Whether the model reads a query beside the text.
        training_data: What it was trained on, in plain sentences.
        results: Results on dev, if there are any.
        seed: Of the training run.
        license: Of the weights, as an SPDX id, if it is known.
        version: Of the package that wrote it.
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
    results: Evaluation | None = None
    seed: int | None = None
    license: str | None = None
    version: str = __version__


def model_card(info: CardInfo) -> str:
    """The card as Markdown; text from users is escaped."""
    results = {info.method: info.results} if info.results else {}
    return render(
        "card.md.j2",
        info=info,
        front_matter=yaml.safe_dump(_front_matter(info), sort_keys=False, allow_unicode=True).strip(),
        supervision=SUPERVISION[info.supervision],
        table=metric_table(results, title="") if results else None,
        warnings=[text for _, text in warnings_of(results)],
    )


def _front_matter(info: CardInfo) -> dict[str, Any]:
    fields = {
        "library_name": "rationalize",
        "pipeline_tag": "text-classification",
        "license": info.license,
        "tags": ["rationalize", "rationalization", "explainability", "text-classification", info.method],
        "metrics": ["f1"] if info.results else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def card_for(
    model: ModelConfig,
    run: RunConfig,
    data: TrainingData | None = None,
    results: Evaluation | None = None,
    *,
    faithful: bool | None = None,
) -> str:
    """The card of a trained model.

    Args:
        model: What is in the model folder.
        run: How it was trained.
        data: What it was trained on, if that is at hand.
        results: Results on dev, if there are any.
        faithful: Of this very model; None: as the results say, or else as the method is by default.
    """
    from rationalize.methods.registry import method_class

    about = method_class(model.method).about
    measured = results.faithful if results else None
    known = [each for each in (faithful, measured, about.faithful) if each is not None]
    info = CardInfo(
        method=about.name,
        method_title=about.title,
        headline=about.headline,
        reference=about.reference,
        supervision=about.supervision,
        faithful=known[0],
        labels=tuple(model.labels),
        encoder=model.encoder.name,
        max_tokens=model.encoder.max_tokens,
        reads_query=model.use_query,
        training_data=_describe(data) if data else (),
        results=results,
        seed=run.seed,
    )
    return model_card(info)


def _describe(data: TrainingData) -> tuple[str, ...]:
    """The training data in plain sentences."""
    size = f"{len(data.train)} training examples, {len(data.gold_ids)} of them with a gold rationale"
    return (
        f"{size}; {len(data.dev)} dev examples to choose the epoch on.",
        *(f"{note}." for note in data.notes),
    )
