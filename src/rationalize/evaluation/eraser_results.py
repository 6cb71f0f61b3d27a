"""Predictions in ERASER's result format, as its official scorer reads them.

The scorer takes its decisions from the first row: an optional field that is there must be everywhere, and a
first document in which nothing is selected makes it leave out all hard scores. So every row has the same
fields, and a row with a selection comes first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from rationalize.data.dataset import labels_of
from rationalize.evaluation.faithfulness import Faithfulness
from rationalize.inference.engine import Explained
from rationalize.metrics.ablations import Ablation, Probabilities
from rationalize.text.words import runs, words_in
from rationalize.types import Document, Span

_LINE = re.compile(r"[^\r\n]+")
_TOKEN = re.compile(r"[^ ]+")

Names = Mapping[str, str]
"""The model's name of a class, and the data's, where they differ."""


class TokenSpan(TypedDict):
    """A run of selected tokens, end-exclusive."""

    start_token: int
    end_token: int


class DocumentRationale(TypedDict):
    """What was selected in a document, and how much each of its tokens was wanted."""

    docid: str
    hard_rationale_predictions: list[TokenSpan]
    soft_rationale_predictions: list[float]


class ReducedScores(TypedDict):
    """Class probabilities without words, and of nothing but them."""

    comprehensiveness_classification_scores: dict[str, float]
    sufficiency_classification_scores: dict[str, float]


class ThresholdScores(ReducedScores):
    """The same for a share of the highest-scored tokens."""

    threshold: float


class ResultRow(TypedDict):
    """One example in the scorer's format."""

    annotation_id: str
    rationales: list[DocumentRationale]
    classification: str
    classification_scores: dict[str, float]
    comprehensiveness_classification_scores: NotRequired[dict[str, float]]
    sufficiency_classification_scores: NotRequired[dict[str, float]]
    thresholded_scores: NotRequired[list[ThresholdScores]]


def eraser_results(
    explained: Sequence[Explained],
    *,
    split: str,
    faithfulness: Faithfulness | None = None,
    names: Names | None = None,
) -> tuple[list[ResultRow], list[str]]:
    """One row per example, and what the user of the scorer should know.

    Args:
        explained: What a model made of the examples.
        split: Unnamed documents are called `<split>.<id>`, as `rationalize data convert` calls them.
        faithfulness: Measured on the same explanations, if it was.
        names: The data's names of the model's labels.
    """
    names = names or {}
    ablations = faithfulness.own if faithfulness else [None] * len(explained)
    rows = [_row(item, each, split, names) for item, each in zip(explained, ablations, strict=True)]
    ordered = _selection_first(rows)
    known = {names.get(label, label) for label in labels_of(item.encoded.example for item in explained)}
    return ordered, [*_order_notes(rows, ordered), *_label_notes(rows, known)]


def scorer_tokens(text: str) -> list[Span]:
    """The tokens of a document as the official scorer cuts them: stripped lines, cut at spaces only.

    In text that is separated by single spaces and line feeds they are the words.
    """
    found = []
    for line in _LINE.finditer(text):
        start = line.end() - len(line.group().lstrip())
        stripped = line.group().strip()
        found += [Span(start + token.start(), start + token.end()) for token in _TOKEN.finditer(stripped)]
    return found


def _row(item: Explained, ablation: Ablation | None, split: str, names: Names) -> ResultRow:
    example, explanation = item.encoded.example, item.explanation
    documents = example.documents or (Document(f"{split}.{example.id}", 0, len(example.text)),)
    rationales = [_rationale(item, document) for document in documents]
    with_tokens = [each for each in rationales if each["soft_rationale_predictions"]]
    row: ResultRow = {
        "annotation_id": example.id,
        "rationales": with_tokens or rationales,  # the scorer stops at a document without tokens
        "classification": names.get(explanation.label, explanation.label),
        "classification_scores": _rename(explanation.probabilities, names),
    }
    if ablation is None:
        return row
    thresholds: list[ThresholdScores] = [
        {"threshold": share, **_reduced_scores(without, ablation.only_top[share], names)}
        for share, without in ablation.without_top.items()
    ]
    of_rationale = _reduced_scores(ablation.without, ablation.only, names)
    return {**row, **of_rationale, "thresholded_scores": thresholds}


def _rationale(item: Explained, document: Document) -> DocumentRationale:
    explanation = item.explanation
    selected, scores = [], []
    for token in scorer_tokens(explanation.text[document.start : document.end]):
        place = Span(document.start + token.start, document.start + token.end)
        inside = words_in(explanation.words, place)
        selected.append(any(explanation.selected[inside.start : inside.stop]))
        scores.append(max(explanation.scores[inside.start : inside.stop], default=0.0))
    return {
        "docid": document.id,
        "hard_rationale_predictions": [
            {"start_token": start, "end_token": end} for start, end in runs(selected)
        ],
        "soft_rationale_predictions": scores,
    }


def _reduced_scores(without: Probabilities | None, only: Probabilities | None, names: Names) -> ReducedScores:
    return {
        "comprehensiveness_classification_scores": _rename(without or {}, names),
        "sufficiency_classification_scores": _rename(only or {}, names),
    }


def _rename(probabilities: Probabilities, names: Names) -> dict[str, float]:
    return {names.get(label, label): value for label, value in probabilities.items()}


def _selection_first(rows: list[ResultRow]) -> list[ResultRow]:
    """The first row with a selection before all others, and in it a document with a selection."""
    first = next((row for row in rows if any(map(_selects, row["rationales"]))), None)
    if first is None:
        return rows
    documents = sorted(first["rationales"], key=lambda rationale: not _selects(rationale))
    return [{**first, "rationales": documents}, *(row for row in rows if row is not first)]


def _selects(rationale: DocumentRationale) -> bool:
    return bool(rationale["hard_rationale_predictions"])


def _order_notes(rows: list[ResultRow], ordered: list[ResultRow]) -> list[str]:
    if rows and not any(map(_selects, ordered[0]["rationales"])):
        return ["Nothing is selected in any row: the official scorer will leave out all hard scores."]
    if rows and ordered[0] != rows[0]:
        name = ordered[0]["annotation_id"]
        return [
            f"Row {name!r} comes first: in a first row without a selection the scorer would see none at all."
        ]
    return []


def _label_notes(rows: list[ResultRow], known: set[str]) -> list[str]:
    foreign = sorted({row["classification"] for row in rows} - known)
    if not known or not foreign:
        return []
    return [f"Label(s) {', '.join(foreign)} are not in these data: the official scorer stops at them."]
