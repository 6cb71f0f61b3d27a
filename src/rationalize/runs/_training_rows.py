"""Make input rows of a run's examples, in pools; those of many texts are made when a batch needs them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from pathlib import Path

from rationalize.lazy_sequence import LazySequence
from rationalize.locks import name_lock, wait_for_lock
from rationalize.runs.training_data import TrainingData
from rationalize.seeding import derive_seed
from rationalize.text.batch import InputRow
from rationalize.text.piece_file import MappedTexts, keep_pieces
from rationalize.text.windows import Encoded, TextEncoder, Window
from rationalize.types import Example


def encode_texts(
    text: TextEncoder, examples: Sequence[Example], place: Path | None, *, truncate: bool
) -> Sequence[Encoded]:
    """Encode examples: now, or, with a place for files, whenever one is asked for, from pieces in a file there."""
    if place is None or not examples:
        return text.encode_all(examples, truncate=truncate)
    with wait_for_lock(name_lock(place)):
        pieces = keep_pieces(place, text, examples)
    return MappedTexts(text, examples, pieces, truncate)


def to_rows(
    encoded: Sequence[Encoded], data: TrainingData, copies: Sequence[Encoded] = ()
) -> dict[str, Sequence[InputRow]]:
    """Make the pools `all`, `gold`, `rest` and `augmented`, one row per example with all windows that were read.

    Every pool that teaches labels has all of them, or a phase over it would unlearn the others: `gold` borrows rows
    for the label alone, and a `rest` that lacks a label is everything, without its gold.
    """
    kept = set(data.gold_ids)
    examples = list_examples(encoded)
    labels, gold, rest = array("i"), array("q"), array("q")
    for place, example in enumerate(examples):  # one walk, with some bytes for each: they may be on disk
        labels.append(data.labels.index(str(example.label)))
        (gold if example.id in kept else rest).append(place)
    stripped = bool(gold) and {labels[place] for place in rest} != set(labels)
    rest = array("q", range(len(labels))) if stripped else rest
    borrowed = _borrow_labels(examples, labels, gold, rest)
    rows = _make_rows(encoded, data)
    return {
        "all": rows,
        "gold": SelectedRows(rows, gold, borrowed, stripped=stripped),
        "rest": SelectedRows(rows, () if stripped else rest, rest if stripped else (), stripped=stripped),
        "augmented": _make_rows(copies, data),
    }


def list_examples(encoded: Sequence[Encoded]) -> Sequence[Example]:
    """List the examples of encoded ones."""
    return encoded.examples if isinstance(encoded, MappedTexts) else [item.example for item in encoded]


def _make_rows(encoded: Sequence[Encoded], data: TrainingData) -> Sequence[InputRow]:
    """Make a row of every example: now, or whenever it is asked for if its pieces are on disk."""
    if isinstance(encoded, MappedTexts):
        return MappedRows(encoded, data)
    return [_make_row(item, data) for item in encoded]


@dataclass(frozen=True)
class MappedRows(LazySequence[InputRow]):
    """Rows that are made whenever one is asked for."""

    encoded: MappedTexts
    data: TrainingData

    def make(self, index: int) -> InputRow:
        return _make_row(self.encoded[index], self.data)

    def __len__(self) -> int:
        return len(self.encoded)


@dataclass(frozen=True)
class SelectedRows(LazySequence[InputRow]):
    """Some rows of a sequence.

    Attributes:
        rows: The sequence.
        indexes: Which rows.
        more: Which rows after these.
        stripped: Whether the latter are without their annotation.
    """

    rows: Sequence[InputRow]
    indexes: Sequence[int]
    more: Sequence[int] = ()
    stripped: bool = False

    def make(self, index: int) -> InputRow:
        if index < len(self.indexes):
            return self.rows[self.indexes[index]]
        row = self.rows[self.more[index - len(self.indexes)]]
        return _strip_row(row) if self.stripped else row

    def __len__(self) -> int:
        return len(self.indexes) + len(self.more)


def _borrow_labels(
    examples: Sequence[Example], labels: Sequence[int], gold: Sequence[int], rest: Sequence[int]
) -> list[int]:
    """Return examples without gold for the labels that no annotated one has, as many each as annotated labels have."""
    present = {labels[index] for index in gold}
    size = round(len(gold) / max(1, len(present)))
    absent = {labels[index] for index in rest} - present if gold else set()
    borrowed: list[int] = []
    for label in sorted(absent):
        candidates = (index for index in rest if labels[index] == label)
        borrowed += nsmallest(
            size, candidates, key=lambda index: derive_seed(0, "borrowed", examples[index].id)
        )
    return borrowed


def _strip_row(row: InputRow) -> InputRow:
    """Return the row without its annotation."""
    return replace(row, gold=None, shortcuts=None, more=tuple(map(_strip_row, row.more)))


def _make_row(encoded: Encoded, data: TrainingData) -> InputRow:
    """Make a row of an example's windows, class number, gold and shortcuts."""
    rows = [_make_window_row(encoded.example, window, data) for window in encoded.windows]
    if encoded.example.rationale and not any(row.gold is not None and row.gold.any() for row in rows):
        # All that was marked lies beyond a cut: nothing is known about what was read.
        rows = [replace(row, gold=None) for row in rows]
    return replace(rows[0], more=tuple(rows[1:]))


def _make_window_row(example: Example, window: Window, data: TrainingData) -> InputRow:
    """Make a row of one window, with the part of the annotation that lies in it."""
    gold = None if example.rationale is None else window.mark_pieces(example.rationale)
    shortcuts = window.mark_pieces(example.shortcuts) if example.shortcuts else None
    label = data.labels.index(str(example.label))
    return InputRow(example.id, window, label, gold, shortcuts, data.environments.get(example.id, -1))


def describe_long_texts(text: TextEncoder, encoded: Sequence[Encoded]) -> str | None:
    """Describe how many training texts exceed the encoder's length, and what becomes of them; None: no text does."""
    # Of texts whose pieces are on disk, only those are looked at that may be long.
    items = map(encoded.make, encoded.find_long()) if isinstance(encoded, MappedTexts) else encoded
    cut, lost, windows = 0, 0, array("q")
    for item in items:
        if len(item.windows) > 1:
            windows.append(len(item.windows))
        if item.cut_off is not None:
            start = item.cut_off.start
            cut += 1
            lost += sum(span.end > start for span in item.example.rationale or ())
    if windows:
        return (
            f"{len(windows)} of {len(encoded)} training texts are longer than {text.max_tokens} pieces: each epoch "
            f"reads one window of each (they have {min(windows)} to {max(windows)}), other epochs read others"
        )
    if not cut:
        return None
    n_spans = sum(len(example.rationale or ()) for example in list_examples(encoded))
    note = f"{cut} of {len(encoded)} training texts are longer than {text.max_tokens} pieces and were cut"
    return note + (f"; {lost} of {n_spans} gold spans lie beyond the cut" if n_spans else "")
