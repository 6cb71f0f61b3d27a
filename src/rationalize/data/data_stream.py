"""Data sets that are read anew at every pass, so that any number of rows needs little memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rationalize.data._first_places import FirstPlaces
from rationalize.data._open_source import DataSource, name_data, open_source
from rationalize.data._partial_words import fit_example
from rationalize.data._remote_files import to_place
from rationalize.data.dataset import ReadableData, SplitPeople, normalize_split
from rationalize.data.findings import Findings
from rationalize.data.read_options import ReadOptions
from rationalize.data.rows import Tally
from rationalize.data.source import describe_people, finish_reading, read_data
from rationalize.text.words import WordRule
from rationalize.types import Example


@dataclass(frozen=True)
class SplitStream(Collection[Example]):
    """The examples of a split; each loop over them reads the files again."""

    source: DataSource
    split: str
    words: WordRule
    rows: int

    def __iter__(self) -> Iterator[Example]:
        source = replace(self.source, findings=Findings(self.source.findings.root, strict=True))
        for example in source.examples(self.split, Tally("nothing")):
            if not (source.options.drop_unlabeled and example.label is None):
                yield fit_example(example, self.words, source.options.partial_words)[0]

    def __len__(self) -> int:
        return self.rows

    def __contains__(self, other: object) -> bool:
        return any(example == other for example in self)


@dataclass(frozen=True)
class DataStream:
    """A data set that stays on disk: as `DataSet`, with splits that are read whenever they are iterated over."""

    name: str
    words: WordRule
    splits: dict[str, SplitStream]
    notes: dict[str, int]
    people: dict[str, SplitPeople]


@contextmanager
def open_data(source: Any, options: ReadOptions) -> Iterator[ReadableData]:
    """Read a data set once, to find what is wrong with it, and yield it for further passes.

    What is given in memory stays there; ERASER's layout, whose rows share documents, and files of
    annotation tools are read into it.

    Raises:
        DataError: At the first row that cannot be read.
    """
    if not isinstance(source, str | Path):
        yield read_data(source, options)
        return
    place = to_place(source)
    findings = Findings(place, strict=True)
    with open_source(place, findings, options) as opened:
        if opened.is_whole:
            yield read_data(source, options)
            return
        opened.require_readable()
        tallies = {split: Tally("ids") for split in opened.split_files}
        rows = {split: _count_rows(opened, split, tally) for split, tally in tallies.items()}
        words = opened.words(iter(tallies.values()))
        finish_reading(findings, tallies, options)
        splits = {split: SplitStream(opened, split, words, count) for split, count in rows.items()}
        _note_changes(opened, splits, sum(tally.kept for tally in tallies.values()))
        yield DataStream(name_data(place), words, splits, findings.oddities(), describe_people(tallies))


@dataclass(frozen=True)
class OpenedSplit:
    """One split, in memory or on disk.

    Attributes:
        data: The name of the data set.
        split: The name of the split.
        words: The data set's definition of a word.
        examples: The examples.
    """

    data: str
    split: str
    words: WordRule
    examples: Collection[Example]


@contextmanager
def open_split(source: Any, split: str | None, options: ReadOptions) -> Iterator[OpenedSplit]:
    """Read a split as `read_data` does, but leave it on disk if it can be read from there again and again.

    Args:
        source: Anything `load` takes.
        split: The split; None: train, or the only one.
        options: How to read.

    Raises:
        DataError: If a row of the data set cannot be read, or there is no such split.
    """
    with open_data(source, options) as data:
        wanted = normalize_split(split or "train")
        if split is None and len(data.splits) == 1:
            wanted = next(iter(data.splits))
        if isinstance(data, DataStream) and wanted in data.splits:
            yield OpenedSplit(data.name, wanted, data.words, data.splits[wanted])
            return
    whole = read_data(source if isinstance(data, DataStream) else data, options, split)
    examples = whole.only(wanted)
    yield OpenedSplit(whole.name, wanted, whole.words, examples)


def _count_rows(source: DataSource, split: str, tally: Tally) -> int:
    drops = source.options.drop_unlabeled
    rows = sum(not (drops and example.label is None) for example in source.examples(split, tally))
    tally.first = FirstPlaces()  # no longer needed, and not small
    return rows


def _note_changes(source: DataSource, splits: dict[str, SplitStream], kept: int) -> None:
    """Note what the options leave out, as `load` does."""
    findings, how = source.findings, source.options.partial_words
    findings.note("rows without a label, left out", kept - sum(map(len, splits.values())))
    if how == "widen":
        return
    plain = replace(source, options=replace(source.options, partial_words="widen"))
    cut = sum(
        fit_example(example, stream.words, how)[1]
        for stream in splits.values()
        for example in replace(stream, source=plain)
    )
    findings.note(f"gold spans that cut a word ({how})", cut)
