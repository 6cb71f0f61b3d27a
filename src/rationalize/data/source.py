"""One door to data in any format: `load`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from rationalize.data.data_files import ARCHIVES, Files, open_files
from rationalize.data.dataset import DataSet, split_name, split_rank
from rationalize.data.eraser import EraserReader
from rationalize.data.findings import Findings
from rationalize.data.jsonl import jsonl_examples
from rationalize.data.rows import Tally
from rationalize.data.tabular import header_of, table_examples
from rationalize.errors import DataError
from rationalize.types import Example

_KNOWN = {"train", "val", "test", "ood"}


def load(
    path: Path | str, split: str | None = None, *, text_field: str = "text", label_field: str = "label"
) -> DataSet:
    """Read a data set: a folder, an archive or a file, in ERASER's layout, JSON Lines, CSV or TSV.

    Args:
        path: Where it is.
        split: Read this split only. dev, valid and validation mean val.
        text_field: Name of the field or column with the text (not for ERASER).
        label_field: Name of the field or column with the label (not for ERASER).

    Raises:
        DataError: At the first row that cannot be read; `rationalize data check` lists them all.
    """
    path = Path(path)
    findings = Findings(path, strict=True)
    with open_source(path, findings, text_field=text_field, label_field=label_field) as source:
        wanted = list(source.split_files) if split is None else [source.require(split)]
        splits = {name: tuple(source.examples(name, Tally())) for name in wanted}
    return DataSet(data_name(path), splits, findings.oddities())


@dataclass(frozen=True)
class DataSource:
    """A data set that has been recognized but not read.

    Attributes:
        files: Its files.
        findings: Where the readers report.
        split_files: File of each split.
        eraser: The reader, if it is in ERASER's layout.
        text_field: Field or column with the text.
        label_field: Field or column with the label.
    """

    files: Files
    findings: Findings
    split_files: dict[str, str]
    eraser: EraserReader | None
    text_field: str
    label_field: str

    @property
    def format(self) -> str:
        """`eraser`, `jsonl`, `csv` or `tsv`, several joined by `+`."""
        kinds = {PurePosixPath(name).suffix[1:] for name in self.split_files.values()}
        return "eraser" if self.eraser else "+".join(sorted(kinds))

    def place(self, split: str) -> str:
        """The file of a split, as messages show it."""
        return self.files.place(self.split_files[split])

    def require(self, split: str) -> str:
        """The split's own name; DataError if there is none."""
        if split_name(split) not in self.split_files:
            known = ", ".join(self.split_files)
            raise DataError(f"{self.files.shown}: no split {split!r}. It has {known}; choose one of them.")
        return split_name(split)

    def examples(self, split: str, tally: Tally) -> Iterator[Example]:
        """Read a split."""
        name = self.split_files[split]
        if self.eraser:
            yield from self.eraser.examples(name, tally)
        else:
            read = jsonl_examples if name.endswith(".jsonl") else table_examples
            with self.files.open(name) as stream:
                place = self.files.place(name)
                yield from read(stream, place, self.findings, tally, self.text_field, self.label_field)
        if not tally.read:
            self.findings.error("no rows", self.place(split), seen="0 rows", expected="at least one")


@contextmanager
def open_source(
    path: Path, findings: Findings, *, text_field: str = "text", label_field: str = "label"
) -> Iterator[DataSource]:
    """Recognize what lies at a path; archives stay open for as long as the context."""
    with open_files(path) as (files, only):
        names = files.split_files() if only is None else [only]
        looks = {name: _first_fields(files, name) for name in names}
        has_documents = (files.folder / "docs").is_dir() or "docs.jsonl" in files
        is_plain = only is not None or any(text_field in fields for fields in looks.values())
        is_eraser = any(map(_is_annotation, looks.values())) or (has_documents and not is_plain)
        wanted = {"annotation_id", "evidences"} if is_eraser else {text_field}
        chosen = [name for name in names if name == only or _is_split(name, looks[name], wanted)]
        for name in set(names) - set(chosen):
            findings.note(f"file ignored, not a split: {name}")
        split_files = _by_split(files, chosen)
        eraser = EraserReader(files, findings) if is_eraser else None
        yield DataSource(files, findings, split_files, eraser, text_field, label_field)


def data_name(path: Path) -> str:
    """What to call the data set at a path."""
    name = path.resolve().name
    ending = next((ending for ending in (*ARCHIVES, ".jsonl", ".csv", ".tsv") if name.endswith(ending)), "")
    return name.removesuffix(ending)


def _first_fields(files: Files, name: str) -> set[str]:
    """Names of the fields in the first row, or nothing if it cannot be read."""
    with files.open(name) as stream:
        if not name.endswith(".jsonl"):
            return set(header_of(stream, name))
        try:
            first: Any = json.loads(next(filter(bytes.strip, stream), b"").decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return set()
    return set(first) if isinstance(first, dict) else set()


def _is_annotation(fields: set[str]) -> bool:
    return {"annotation_id", "evidences"} <= fields


def _is_split(name: str, fields: set[str], wanted: set[str]) -> bool:
    """Files called train, val, test or ood always are; others if their first row looks like one."""
    return split_name(PurePosixPath(name).stem) in _KNOWN or wanted <= fields


def _by_split(files: Files, names: list[str]) -> dict[str, str]:
    split_files: dict[str, str] = {}
    for name in names:
        split = split_name(PurePosixPath(name).stem)
        if split in split_files:
            raise DataError(
                f"{files.shown}: both {split_files[split]} and {name} are the split {split}. "
                "Expected one file for each split; move one of them elsewhere."
            )
        split_files[split] = name
    if not split_files:
        raise DataError(
            f"{files.shown}: no split files. Expected train, val and test files ending in .jsonl, .csv or "
            ".tsv, with a docs folder beside them if they are ERASER annotations."
        )
    return dict(sorted(split_files.items(), key=lambda item: split_rank(item[0])))
