"""One door to data in any format, on disk or in memory: `load`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rationalize.data._dealing import PARTS
from rationalize.data._open_source import name_data, open_source
from rationalize.data._partial_words import fit_to_words
from rationalize.data._python_sources import names_fields, read_memory_rows, split_sources
from rationalize.data._remote_files import to_place
from rationalize.data.catalog import read_recorded_name
from rationalize.data.data_files import Place
from rationalize.data.dataset import DataSet, SplitPeople, normalize_split, rank_split
from rationalize.data.findings import Findings
from rationalize.data.held_examples import hold_examples, select_examples
from rationalize.data.jsonl import build_examples
from rationalize.data.read_options import Fields, PartialWords, ReadOptions
from rationalize.data.rows import Tally
from rationalize.data.splits import is_lone, split_lone
from rationalize.errors import DataError
from rationalize.format_names import ReadAs
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example

IN_MEMORY = "data"


def load(
    source: Any,
    split: str | None = None,
    *,
    text_field: str = "text",
    label_field: str = "label",
    id_field: str = "id",
    query_field: str = "query",
    rationale_field: str = "rationale",
    words: WordRule | None = None,
    partial_words: PartialWords = "widen",
    annotators: str = "majority",
    drop_unlabeled: bool = False,
    read_as: ReadAs | None = None,
) -> DataSet:
    """Read a data set.

    Args:
        source: The path of a folder, an archive or a file (ERASER's layout, JSON Lines, CSV, TSV, JSON, Parquet,
            exports of Label Studio, doccano, Argilla, Prodigy and brat), a pattern of files (`posts-*.jsonl`), an
            address (`s3://…`, `gs://…`, `hf://…`); a pandas.DataFrame; a datasets.Dataset or DatasetDict; (texts,
            labels) or (texts, labels, rationales); a list of dicts or of Examples; or a mapping from splits to any of
            these.
        split: Read this split only. val, valid and validation mean dev. A data set of one split that is called
            none of the usual names is split into train, dev and test for it, see `make_splits`.
        text_field: Field or column with the text, a string or a list of tokens (no field's name is for ERASER).
        label_field: Field or column with the label.
        id_field: Field or column with the id; rows without one are named by file and line.
        query_field: Field or column with the query.
        rationale_field: Field or column with the gold rationale: spans, marks for tokens, or the words themselves.
        words: The definition of a word; None: the format's.
        partial_words: What to do with gold spans that cut a word.
        annotators: What is gold if several people annotated: what at least half of them marked (`majority`), any of
            them (`union`), all of them (`intersection`), or the person of this name.
        drop_unlabeled: Skip rows without a label.
        read_as: The format, if it is not to be recognized: rows, eraser, or an annotation tool's.

    Raises:
        DataError: At the first row that cannot be read; `rationalize data check` lists them all.
    """
    fields = Fields(text_field, label_field, id_field, query_field, rationale_field)
    options = ReadOptions(fields, words, partial_words, annotators, drop_unlabeled, read_as=read_as)
    return read_data(source, options, split)


def read_data(source: Any, options: ReadOptions, split: str | None = None) -> DataSet:
    """Read a data set like `load`, with all options in one value."""
    if isinstance(source, DataSet):
        data = source
    elif isinstance(source, str | Path):
        data = _read_path(to_place(source), options, split)
    else:
        data = _read_memory(source, options)
    if split is None:
        return data
    if split not in data and normalize_split(split) in PARTS and is_lone(data):
        data = split_lone(data)
    return replace(data, splits={normalize_split(split): data.split(split)})


def read_examples(data: Any, split: str, options: ReadOptions | None = None) -> Sequence[Example]:
    """Return the examples of a split; given Examples are all returned."""
    if (
        isinstance(data, Sequence)
        and not isinstance(data, str)
        and all(isinstance(each, Example) for each in data)
    ):
        return tuple(data)
    return read_data(data, options or ReadOptions(), split).only(split)


def _read_path(path: Place, options: ReadOptions, split: str | None) -> DataSet:
    findings = Findings(path, strict=True)
    with open_source(path, findings, options) as source:
        wanted = list(source.split_files) if split is None else source.wanted(normalize_split(split))
        tallies = {name: Tally("ids") for name in wanted}
        splits = {
            name: hold_examples(source.examples(name, tally), options.map_from)
            for name, tally in tallies.items()
        }
        words = source.words(iter(tallies.values()))
        finish_reading(findings, tallies, None if source.eraser else options)
    known = read_recorded_name(path) if isinstance(path, Path) else None
    people = describe_people(tallies)
    read = DataSet(name_data(path), splits, words=words, path=str(path), known=known, people=people)
    return _finish(read, findings, options)


def _read_memory(source: Any, options: ReadOptions) -> DataSet:
    findings = Findings(IN_MEMORY, strict=True)
    given = split_sources(source, options.fields)
    named = {IN_MEMORY: source} if given is None else given
    splits: dict[str, Sequence[Example]] = {}
    tallies: dict[str, Tally] = {}
    for name, part in sorted(named.items(), key=lambda item: rank_split(normalize_split(item[0]))):
        if normalize_split(name) in splits:
            raise DataError(
                f"{IN_MEMORY}: saw the split {normalize_split(name)} twice ({name!r}), expected it once."
            )
        tally = tallies[name] = Tally()
        if isinstance(part, str | Path):
            splits[normalize_split(name)] = _read_file(part, name, options, tally)
            continue
        own = options if names_fields(part) else replace(options, fields=Fields())
        rows = read_memory_rows(part, name, findings, own.fields)
        splits[normalize_split(name)] = hold_examples(build_examples(rows, name, tally, own), own.map_from)
        if not tally.read:
            findings.error("no rows", name, seen="0 rows", expected="at least one")
    finish_reading(findings, tallies, options if all(map(names_fields, named.values())) else None)
    tokens = any(tally.tokenized for tally in tallies.values())
    words = options.words or ("whitespace" if tokens else PLAIN)
    people = describe_people({normalize_split(name): tally for name, tally in tallies.items()})
    return _finish(DataSet(IN_MEMORY, splits, words=words, people=people), findings, options)


def _read_file(path: str | Path, name: str, options: ReadOptions, tally: Tally) -> Sequence[Example]:
    """Read a split that a mapping gives as a path: the only split there, or the one of that name."""
    data = _read_path(to_place(path), options, None)
    tally.tokenized += data.words == "whitespace"
    return next(iter(data.splits.values())) if len(data) == 1 else data.split(name)


def finish_reading(findings: Findings, tallies: Mapping[str, Tally], options: ReadOptions | None) -> None:
    """Report what only all rows together show: a field that none has, labels written in several ways.

    `options` is None where the rows have no names of the user's choice.
    """
    seen = set().union(*(tally.fields for tally in tallies.values()))
    for what, name in options.fields.renamed().items() if options and seen else ():
        if name not in seen:
            fields, expected = ", ".join(sorted(seen)), f"a field with the {what} in some row"
            findings.error(
                "missing field",
                str(findings.root),
                field=name,
                seen=fields,
                expected=expected,
                setting=f"data.fields.{what}",
            )
    findings.labels.report(findings, options.fields.label if options else "label")


def describe_people(tallies: Mapping[str, Tally]) -> dict[str, SplitPeople]:
    """Describe who annotated each split; those of which nothing is known are left out."""
    found = {
        name: SplitPeople(dict(sorted(each.annotators.items())), each.people.measure())
        for name, each in tallies.items()
    }
    return {name: each for name, each in found.items() if each.annotators or each.agreement}


def _finish(data: DataSet, findings: Findings, options: ReadOptions) -> DataSet:
    """Apply the options for labels and spans to the data set."""
    splits = data.splits
    if options.drop_unlabeled:
        splits = {
            name: select_examples(split, [n for n, each in enumerate(split) if each.label is not None])
            for name, split in splits.items()
        }
        findings.note(
            "rows without a label, left out", _count_examples(data.splits) - _count_examples(splits)
        )
    splits, cut = fit_to_words(splits, data.words, options.partial_words)
    findings.note(f"gold spans that cut a word ({options.partial_words})", cut)
    return replace(data, splits=splits, notes=findings.oddities())


def _count_examples(splits: Mapping[str, Sequence[Example]]) -> int:
    return sum(map(len, splits.values()))
