"""A study folder: what is rated (`items.jsonl`, blinded), how (`study.json`), and which is whose (`key.json`).

Raters need the first two only; the key may lie elsewhere until the report is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rationalize.config import Strict, validate
from rationalize.errors import DataError
from rationalize.files import json_line, read_json, sha256_of, write_json, write_text
from rationalize.ratings.guide import Guide
from rationalize.types import Span
from rationalize.version import __version__

SCHEMA = 1
STUDY, ITEMS, KEY = "study.json", "items.jsonl", "key.json"


class Item(Strict):
    """One rationale to rate; nothing in it tells which model made it."""

    id: str
    text: str
    query: str | None
    label: str
    """The label that the model gave."""
    spans: tuple[tuple[int, int], ...]
    """The rationale, as offsets into the text."""

    @property
    def marked(self) -> tuple[Span, ...]:
        """The rationale as spans."""
        return tuple(Span(start, end) for start, end in self.spans)

    @property
    def rationale(self) -> tuple[str, ...]:
        """The selected stretches of text."""
        return tuple(self.text[start:end] for start, end in self.spans)


class ModelSource(Strict):
    """Rationales that a model made for the study."""

    model: str
    method: str
    sha256: str
    """Of its manifest."""


class FileSource(Strict):
    """Rationales from a file."""

    predictions: str
    sha256: str


Source = ModelSource | FileSource


class StudyInfo(Strict):
    """`study.json`."""

    schema_version: int = SCHEMA
    guide: Guide
    scale: tuple[int, int]
    """Lowest and highest grade."""
    seed: int
    examples: int
    items: int
    items_sha256: str
    """Of `items.jsonl`; key and ratings name it too, so that they are never used with other items."""
    data: str | None
    split: str | None
    sources: dict[str, Source]
    """By model: what its rationales were made from."""
    package_version: str = __version__


class Origin(Strict):
    """Where an item comes from."""

    model: str
    example: str


class Key(Strict):
    """`key.json`."""

    items_sha256: str
    items: dict[str, Origin]


@dataclass(frozen=True)
class Study:
    """A study as raters get it."""

    folder: Path
    info: StudyInfo
    items: tuple[Item, ...]


def write_items(folder: Path, items: list[Item]) -> str:
    """Write the items; gives their hash."""
    path = folder / ITEMS
    write_text(path, "".join(json_line(item.model_dump(mode="json")) for item in items))
    return sha256_of(path)


def write_info(folder: Path, info: StudyInfo, key: Key) -> None:
    """Write what goes with the items."""
    write_json(folder / STUDY, info.model_dump(mode="json"))
    write_json(folder / KEY, key.model_dump(mode="json"))


def open_study(folder: Path) -> Study:
    """Read a study folder, without its key; one that was changed since it was made is refused."""
    info: StudyInfo = validate(StudyInfo, _read(folder / STUDY), str(folder / STUDY))
    path = folder / ITEMS
    if not path.is_file() or sha256_of(path) != info.items_sha256:
        raise DataError(
            f"{path}: missing or changed since the study was prepared. Copy it again, or prepare a new study."
        )
    # The hash vouches for the content, so that it is not checked row by row.
    rows = path.read_text(encoding="utf-8").split("\n")[:-1]
    return Study(folder, info, tuple(Item.model_validate_json(row) for row in rows))


def open_key(study: Study, path: Path | None = None) -> Key:
    """Read the key, which says whose rationale each item is."""
    path = path or study.folder / KEY
    key: Key = validate(Key, _read(path), str(path))
    if key.items_sha256 != study.info.items_sha256:
        raise DataError(f"{path}: the key of another study. Give the one made with {study.folder / ITEMS}.")
    return key


def _read(path: Path) -> Any:
    try:
        return read_json(path)
    except FileNotFoundError:
        is_key = path.name == KEY
        advice = "Say where the key is." if is_key else "Make a study with `rationalize rate prepare`."
        raise DataError(f"{path}: no such file. {advice}", field="key" if is_key else ()) from None
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: cannot be read as JSON: {error}") from None
