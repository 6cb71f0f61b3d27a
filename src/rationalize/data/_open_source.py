"""Find the files of the splits at a path, and how to read each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, get_args

from rationalize.data._dealing import PARTS
from rationalize.data._eraser import EraserReader
from rationalize.data._shard_names import (
    add_siblings,
    find_missing,
    find_shards,
    is_pattern,
    name_pattern,
    sort_shards,
    strip_number,
)
from rationalize.data._tabular import read_header, read_table_stream
from rationalize.data._tool_files import (
    find_brat_folders,
    find_tool_files,
    name_split,
    read_tool_file,
    require_fitting,
)
from rationalize.data._whole_files import WHOLE_ROWS, read_json_array, read_parquet_columns
from rationalize.data.annotation import FORMATS
from rationalize.data.annotation import Format as ToolFormat
from rationalize.data.data_files import ABOUT, ARCHIVES, SPLIT_FILES, Files, Place, open_files
from rationalize.data.dataset import KNOWN_SPLITS, normalize_split, rank_split
from rationalize.data.findings import BadRows, Findings
from rationalize.data.jsonl import build_examples, read_jsonl_stream
from rationalize.data.read_options import Fields, ReadOptions
from rationalize.data.rows import Tally
from rationalize.data.splits import is_lone
from rationalize.errors import DataError
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example


@dataclass(frozen=True)
class DataSource:
    """A data set that has been recognized but not read.

    Attributes:
        files: Its files.
        findings: Where the readers report.
        split_files: Files of each split, more than one if it comes in shards.
        eraser: The reader, if it is in ERASER's layout.
        options: How rows are read.
        tools: The format of each file that is an annotation tool's.
    """

    files: Files
    findings: Findings
    split_files: dict[str, tuple[str, ...]]
    eraser: EraserReader | None
    options: ReadOptions
    tools: Mapping[str, ToolFormat] = field(default_factory=dict)

    @property
    def format(self) -> str:
        """`eraser`, `jsonl`, `csv`, `tsv`, `json`, `parquet` or an annotation tool's, several joined by `+`."""
        if self.tools:
            return "+".join(sorted({tool.name for tool in self.tools.values()}))
        kinds = {PurePosixPath(name).suffix[1:] for names in self.split_files.values() for name in names}
        return "eraser" if self.eraser else "+".join(sorted(kinds))

    @property
    def is_whole(self) -> bool:
        """Whether it is read into memory as a whole: ERASER's layout, and files of annotation tools."""
        return self.eraser is not None or bool(self.tools)

    def place(self, split: str) -> str:
        """Return the file of a split, the first of several, as messages show it."""
        return self.files.place(self.split_files[split][0])

    def wanted(self, split: str) -> list[str]:
        """Return the splits to read for the wanted one: itself, or the only one, to make it from."""
        if split in self.split_files:
            return [split]
        if split in PARTS and is_lone(self.split_files):
            return list(self.split_files)
        known = ", ".join(self.split_files)
        raise DataError(f"{self.files.shown}: no split {split!r}. It has {known}; choose one of them.")

    def words(self, tallies: Iterator[Tally]) -> WordRule:
        """Return the word rule: the given one, else the folder's, else the format's."""
        if self.options.words is not None:
            return self.options.words
        tokens = self.eraser is not None or any(tally.tokenized for tally in tallies)
        return _read_stored_words(self.files) or ("whitespace" if tokens else PLAIN)

    def examples(self, split: str, tally: Tally) -> Iterator[Example]:
        """Read a split, one file after the other."""
        for name in self.split_files[split]:
            if name in self.tools:
                path, place = self.files.folder / name, self.files.place(name)
                yield from read_tool_file(path, self.tools[name], self.findings, tally, self.options, place)
            else:
                read = self.eraser.examples if self.eraser else self._plain_examples
                yield from read(name, tally)
        if not tally.read:
            self.findings.error("no rows", self.place(split), seen="0 rows", expected="at least one")

    def require_readable(self) -> None:
        """Read the first row of every file, so that long work does not end at a shard that is none.

        Raises:
            DataError: If a file cannot be opened, has a wrong header, or its first row is broken.
        """
        if self.is_whole:
            return
        root, skips = self.findings.root, isinstance(self.findings, BadRows)
        looks = BadRows(root, lambda problem: None) if skips else Findings(root, strict=True)
        strict = replace(self, findings=looks)
        for names in self.split_files.values():
            # A JSON array is read as a whole, and was when it was recognized.
            for name in (name for name in names if not name.endswith(".json")):
                next(strict._plain_examples(name, Tally("nothing")), None)

    def _plain_examples(self, name: str, tally: Tally) -> Iterator[Example]:
        path, place = PurePosixPath(name), self.files.place(name)
        with self.files.open(name) as stream:
            if path.suffix in WHOLE_ROWS:
                rows = WHOLE_ROWS[path.suffix](stream, place, self.findings)
                yield from build_examples(rows, path.stem, tally, self.options)
            else:
                read = read_jsonl_stream if path.suffix == ".jsonl" else read_table_stream
                yield from read(stream, place, self.findings, tally, self.options)


@contextmanager
def open_source(place: Place, findings: Findings, options: ReadOptions) -> Iterator[DataSource]:
    """Recognize what lies at a path or an address; archives stay open for as long as the context."""
    with open_files(place) as (files, only):
        names = files.split_files() if only is None else only
        require_fitting(files, names, options.read_as)
        if not names and (inner := find_brat_folders(files, options.read_as)):
            parts: dict[str, tuple[str, ...]] = {name_split(files, name): (name,) for name in inner}
            yield DataSource(files, findings, parts, None, options, dict.fromkeys(inner, FORMATS["brat"]))
            return
        looks = {name: _read_first_fields(files, name) for name in names}
        tools = find_tool_files(files, names, options.read_as)
        has_documents = files.has_folder("docs") or "docs.jsonl" in files
        is_plain = only is not None or any(_has_text(fields, options.fields) for fields in looks.values())
        is_eraser = any(map(_is_annotation, looks.values())) or (has_documents and not is_plain)
        is_eraser = is_eraser if options.read_as is None else options.read_as == "eraser"
        splits = [
            name
            for name in names
            if only or name in tools or _is_split(name, looks[name], options.fields, is_eraser)
        ]
        chosen = add_siblings(splits, names)
        for name in set(names) - set(chosen):
            findings.note(f"file ignored, not a split: {name}")
        is_match = only is not None and is_pattern(str(place)) and only != [PurePosixPath(str(place)).name]
        groups = _group_matches(place, chosen) if is_match else _group_by_split(files, chosen)
        split_files = dict(sorted(groups.items(), key=lambda item: rank_split(item[0])))
        eraser = EraserReader(files, findings) if is_eraser else None
        yield DataSource(files, findings, split_files, eraser, options, tools)


def name_data(place: Place) -> str:
    """Return the name of the data set at a path or an address."""
    if is_pattern(str(place)) and not (isinstance(place, Path) and place.exists()):
        return name_pattern(str(place))
    name = place.rstrip("/").rpartition("/")[2] if isinstance(place, str) else place.resolve().name
    ending = next((ending for ending in (*ARCHIVES, *SPLIT_FILES) if name.endswith(ending)), "")
    return name.removesuffix(ending)


def _read_stored_words(files: Files) -> WordRule | None:
    """Read the word rule that this package wrote beside the splits."""
    if ABOUT not in files:
        return None
    try:
        words = json.loads(files.read(ABOUT)).get("words")
    except (ValueError, AttributeError):
        words = ""
    if words not in get_args(WordRule):
        raise DataError(
            f"{files.place(ABOUT)}: words: saw {words!r}, expected one of {', '.join(get_args(WordRule))}. "
            "Mend the file or remove it."
        )
    rule: WordRule = words
    return rule


def _read_first_fields(files: Files, name: str) -> set[str]:
    """Read the names of the first row's fields; none if it cannot be read."""
    with files.open(name) as stream:
        if name.endswith((".csv", ".tsv")):
            return set(read_header(stream, name))
        if name.endswith(".parquet"):
            return set(read_parquet_columns(stream, files.place(name)))
        if name.endswith(".json"):
            rows = read_json_array(stream, name, Findings(files.shown, strict=False))
            return set(next((row.values for row in rows), {}))
        try:
            first: Any = json.loads(next(filter(bytes.strip, stream), b"").decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return set()
    return set(first) if isinstance(first, dict) else set()


def _is_annotation(fields: set[str]) -> bool:
    return {"annotation_id", "evidences"} <= fields


def _has_text(fields: set[str], names: Fields) -> bool:
    return names.text in fields or "tokens" in fields


def _is_split(name: str, fields: set[str], names: Fields, is_eraser: bool) -> bool:
    """Files called train, dev, test or ood always are; others if their first row looks like one."""
    fits = _is_annotation(fields) if is_eraser else _has_text(fields, names)
    return fits or normalize_split(PurePosixPath(name).stem) in KNOWN_SPLITS


def _group_by_split(files: Files, names: list[str]) -> dict[str, tuple[str, ...]]:
    """Files of each split in a folder: one, or its shards."""
    if missing := find_missing(names):
        name, there, total = missing
        raise DataError(
            f"{files.shown}: {name} is missing: saw {there} of {total} shards. Fetch what is missing, or give a "
            f"pattern ({files.place(strip_number(PurePosixPath(name).stem))}-*) to read those that are there."
        )
    shards = find_shards(names)
    split_files: dict[str, tuple[str, ...]] = {}
    for name in sort_shards(names):
        split = normalize_split(shards.get(name, PurePosixPath(name).stem))
        others = split_files.get(split, ())
        if others and not (name in shards and others[0] in shards):
            raise DataError(
                f"{files.shown}: both {others[0]} and {name} are the split {split}. "
                "Expected one file for each split, or its shards; move one of them elsewhere."
            )
        split_files[split] = (*others, name)
    if not split_files:
        raise DataError(
            f"{files.shown}: no split files. Expected train, dev and test files ending in "
            f"{', '.join(SPLIT_FILES)}, with a docs folder beside them if they are ERASER annotations."
        )
    return split_files


def _group_matches(pattern: Place, names: list[str]) -> dict[str, tuple[str, ...]]:
    """Files of each split that a pattern matches: those called train, dev, test or ood, and one of all others."""
    split_files: dict[str, tuple[str, ...]] = {}
    for name in names:
        called = normalize_split(strip_number(PurePosixPath(name).stem))
        split = called if called in KNOWN_SPLITS else name_pattern(str(pattern))
        split_files[split] = (*split_files.get(split, ()), name)
    return split_files
