"""Files of annotation tools among the files of a data set: recognized by their first record, read as splits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from rationalize.data.annotation import FORMATS, Format, ImportOptions, recognize_format
from rationalize.data.annotation._records import first_record
from rationalize.data.data_files import Files
from rationalize.data.dataset import KNOWN_SPLITS, normalize_split
from rationalize.data.findings import Findings
from rationalize.data.read_options import Fields, ReadOptions
from rationalize.data.rows import Tally
from rationalize.errors import DataError
from rationalize.files import MANIFEST
from rationalize.format_names import ReadAs
from rationalize.types import Example

ENDINGS = (".json", ".jsonl")
OWN = frozenset({"rationale", "evidences", "tokens"})
"""Fields of rows that the plain readers know, whatever else they look like."""
HERE = "."


def find_tool_files(files: Files, names: Sequence[str], read_as: ReadAs | None = None) -> dict[str, Format]:
    """Return the format of each file that is an annotation tool's; of none if any of them is not.

    With `read_as`, a tool's format is that of all files, whatever they look like, and that of rows is none.
    """
    if read_as in FORMATS:
        return dict.fromkeys(names, FORMATS[read_as])
    if not files.is_local or read_as is not None:
        return {}
    found = {name: _recognize(files.folder / name) for name in names}
    known = {name: each for name, each in found.items() if each is not None}
    return known if len(known) == len(found) else {}


def _recognize(path: Path) -> Format | None:
    if path.suffix not in ENDINGS:
        return None
    head = first_record(path)
    return recognize_format(head) if head is not None and OWN.isdisjoint(head) else None


def require_fitting(files: Files, names: Sequence[str], read_as: ReadAs | None) -> None:
    """Refuse a tool's format for files that can be no such tool's: other endings, or files of a store.

    Raises:
        DataError: With what the tool's files are.
    """
    if read_as not in FORMATS:
        return
    strange = next((name for name in names if PurePosixPath(name).suffix not in ENDINGS), None)
    if read_as == "brat" and names:
        strange, expected = names[0], "a folder of .txt and .ann files"
    else:
        expected = f"files of {FORMATS[read_as].title}, which end in {' or '.join(ENDINGS)}"
    if strange is not None or not files.is_local:
        seen = strange or "a store in the cloud"
        raise DataError(
            f"{files.shown}: to be read as {read_as}, but saw {seen}. Expected {expected}.",
            field="data.read_as",
        )


def find_brat_folders(files: Files, read_as: ReadAs | None = None) -> list[str]:
    """Return the sub-folders that are splits of brat files, or `.` for the folder itself; none without such files."""
    folder = files.folder
    if read_as not in (None, "brat") or not files.is_local or not FORMATS["brat"].recognize(folder):
        return []
    inner = sorted(each.name for each in folder.iterdir() if each.is_dir())
    return inner if inner and all(_is_split(folder / name) for name in inner) else [HERE]


def _is_split(folder: Path) -> bool:
    """Return whether a folder is a split, not a label: by its name, or since it was written as one, of any name."""
    return normalize_split(folder.name) in KNOWN_SPLITS or (folder / MANIFEST).is_file()


def read_tool_file(
    path: Path, format: Format, findings: Findings, tally: Tally, options: ReadOptions, place: str
) -> tuple[Example, ...]:
    """Read what people marked in a tool; `place` is the file as messages show it."""
    names, usual = options.fields, Fields()
    chosen = ImportOptions(
        annotators=options.annotators,
        text_field=names.text if names.text != usual.text else None,
        label_field=names.label if names.label != usual.label else None,
        span_field=names.rationale if names.rationale != usual.rationale else None,
        query_field=names.query,
    )
    found = format.read(path, chosen, findings)
    tally.read += found.read
    tally.annotators.update(found.annotators)
    tally.people.merge(found.people)
    tally.add_items(place, len(found.examples))
    return found.examples


def name_split(files: Files, name: str) -> str:
    """Return the split of a file or sub-folder; a folder by itself is named after itself."""
    return normalize_split(Path(files.shown).resolve().name if name == HERE else PurePosixPath(name).stem)
