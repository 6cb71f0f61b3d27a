"""Predictions in ERASER's result format, for its official scorer.

The scorer decides by the first row: an optional field in it must be in every row, and a first document without a
selection makes it skip all hard scores. So every row has the same fields, and a row with a selection comes first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from rationalize.data.dataset import list_labels
from rationalize.evaluation._faithfulness import Faithfulness
from rationalize.inference.engine import Explained
from rationalize.metrics.ablations import Ablation, Probabilities
from rationalize.text.words import find_runs, find_words_in
from rationalize.types import Document, Span

_LINE = re.compile(r"[^\r\n]+")
_TOKEN = re.compile(r"[^ ]+")

Names = Mapping[str, str]
"""The model's name for a class → the data's name, where they differ."""


class TokenSpan(TypedDict):
    """A run of selected tokens, end-exclusive."""

    start_token: int
    end_token: int


class DocumentRationale(TypedDict):
    """The selected tokens of a document, and the score of each token."""

    docid: str
    hard_rationale_predictions: list[TokenSpan]
    soft_rationale_predictions: list[float]


class ReducedScores(TypedDict):
    """Class probabilities without some words, and with those words alone."""

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
    """Return one row per example, and notes for users of the scorer.

    Args:
        explained: A model's explanations of the examples.
        split: Unnamed documents are called `<split>.<id>`, as `rationalize data convert` calls them.
        faithfulness: Measured on the same explanations, if at all.
        names: The data's names for the model's labels.
    """
    names = names or {}
    ablations = faithfulness.own if faithfulness else [None] * len(explained)
    rows = [_make_row(item, each, split, names) for item, each in zip(explained, ablations, strict=True)]
    ordered = _put_selection_first(rows)
    known = {names.get(label, label) for label in list_labels(item.encoded.example for item in explained)}
    return ordered, [*_note_order(rows, ordered), *_note_labels(rows, known)]


def split_scorer_tokens(text: str) -> list[Span]:
    """Split a document into tokens as the official scorer does: stripped lines, split at spaces only.

    In text with single spaces and line feeds, the tokens are the words.
    """
    found = []
    for line in _LINE.finditer(text):
        start = line.end() - len(line.group().lstrip())
        stripped = line.group().strip()
        found += [Span(start + token.start(), start + token.end()) for token in _TOKEN.finditer(stripped)]
    return found


def _make_row(item: Explained, ablation: Ablation | None, split: str, names: Names) -> ResultRow:
    example, explanation = item.encoded.example, item.explanation
    documents = example.documents or (Document(f"{split}.{example.id}", 0, len(example.text)),)
    rationales = [_make_rationale(item, document) for document in documents]
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
        {"threshold": share, **_make_reduced_scores(without, ablation.only_top[share], names)}
        for share, without in ablation.without_top.items()
    ]
    of_rationale = _make_reduced_scores(ablation.without, ablation.only, names)
    return {**row, **of_rationale, "thresholded_scores": thresholds}


def _make_rationale(item: Explained, document: Document) -> DocumentRationale:
    explanation = item.explanation
    selected, scores = [], []
    for token in split_scorer_tokens(explanation.text[document.start : document.end]):
        place = Span(document.start + token.start, document.start + token.end)
        inside = find_words_in(explanation.words, place)
        selected.append(any(explanation.selected[inside.start : inside.stop]))
        scores.append(max(explanation.scores[inside.start : inside.stop], default=0.0))
    return {
        "docid": document.id,
        "hard_rationale_predictions": [
            {"start_token": start, "end_token": end} for start, end in find_runs(selected)
        ],
        "soft_rationale_predictions": scores,
    }


def _make_reduced_scores(
    without: Probabilities | None, only: Probabilities | None, names: Names
) -> ReducedScores:
    return {
        "comprehensiveness_classification_scores": _rename(without or {}, names),
        "sufficiency_classification_scores": _rename(only or {}, names),
    }


def _rename(probabilities: Probabilities, names: Names) -> dict[str, float]:
    return {names.get(label, label): value for label, value in probabilities.items()}


def _put_selection_first(rows: list[ResultRow]) -> list[ResultRow]:
    """Move the first row with a selection to the front, and in it a document with a selection."""
    first = next((row for row in rows if any(map(_has_selection, row["rationales"]))), None)
    if first is None:
        return rows
    documents = sorted(first["rationales"], key=lambda rationale: not _has_selection(rationale))
    return [{**first, "rationales": documents}, *(row for row in rows if row is not first)]


def _has_selection(rationale: DocumentRationale) -> bool:
    return bool(rationale["hard_rationale_predictions"])


def _note_order(rows: list[ResultRow], ordered: list[ResultRow]) -> list[str]:
    if rows and not any(map(_has_selection, ordered[0]["rationales"])):
        return ["No row has a selection: the official scorer will skip all hard scores."]
    if rows and ordered[0] != rows[0]:
        name = ordered[0]["annotation_id"]
        return [
            f"Row {name!r} comes first: with no selection in the first row, the scorer would skip all hard scores."
        ]
    return []


def _note_labels(rows: list[ResultRow], known: set[str]) -> list[str]:
    foreign = sorted({row["classification"] for row in rows} - known)
    if not known or not foreign:
        return []
    return [f"Label(s) {', '.join(foreign)} do not occur in these data: the official scorer stops at them."]
