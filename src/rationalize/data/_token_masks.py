"""Rows of tokens: a text as a list of strings, with gold as 0 and 1 for each, by one person or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from rationalize.data.annotator_agreement import AgreementMeter
from rationalize.data.findings import FileRow, shorten
from rationalize.data.read_options import MERGES
from rationalize.text.words import mask_spans
from rationalize.types import Span

Mask = Sequence[int | float | bool]


def place_tokens(tokens: Sequence[str]) -> tuple[str, list[Span]]:
    """Join tokens by single spaces; return the text, and the span of each token."""
    spans, at = [], 0
    for token in tokens:
        spans.append(Span(at, at + len(token)))
        at += len(token) + 1
    return " ".join(tokens), spans


def is_tokens(value: Any) -> TypeGuard[list[str]]:
    """Return whether a text comes as tokens."""
    return isinstance(value, list) and bool(value) and all(isinstance(token, str) for token in value)


def read_masks(
    row: FileRow, field: str, places: Sequence[Span], annotators: str, people: AgreementMeter
) -> tuple[Span, ...] | None:
    """Runs of gold tokens, from one list of marks or from several people's; None where nobody marked anything.

    What several people marked is also counted in `people`.
    """
    value = row.values.get(field)
    if value is None:
        return None
    several = isinstance(value, list) and all(isinstance(item, list) for item in value)
    masks = value if several else [value]
    names = [f"{field}[{index}]" for index in range(len(masks))] if several else [field]
    for name, mask in zip(names, masks):
        _check_mask(row, name, mask, len(places))
    if several and annotators not in MERGES:
        expected = f"{', '.join(MERGES)}; lists of marks do not say who made them"
        row.error(
            "no names of people", field, seen=repr(annotators), expected=expected, setting="data.annotators"
        )
    if not row.fine:
        return None
    people.add_masks(masks)
    needed = {"union": 1, "intersection": len(masks)}.get(annotators, len(masks) / 2)
    counts = [sum(map(bool, marks)) for marks in zip(*masks)] if masks else [0] * len(places)
    spans = mask_spans(places, [count > 0 and count >= needed for count in counts])
    return tuple(span for span in spans if span.start < span.end)


def _check_mask(row: FileRow, field: str, mask: Any, length: int) -> None:
    if not isinstance(mask, list) or not all(
        isinstance(mark, int | float) and mark in (0, 1) for mark in mask
    ):
        expected = "0 or 1 for each token, or a list of such lists"
        row.error("wrong type", field, seen=shorten(mask), expected=expected)
    elif len(mask) != length:
        expected = f"{length}, one for each token"
        row.error("wrong number of marks", field, seen=str(len(mask)), expected=expected)
