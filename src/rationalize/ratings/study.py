"""A study folder: the blinded items (`items.jsonl`), the instructions (`study.json`), and the key (`key.json`).

Raters need only the first two; keep the key elsewhere until the report.
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
    """One rationale to rate; nothing in it reveals its model."""

    id: str
    text: str
    query: str | None
    label: str
    """The model's label."""
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
    """SHA-256 of the model's manifest."""


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
    """SHA-256 of `items.jsonl`; key and ratings store it too, so that they are never used with other items."""
    data: str | None
    split: str | None
    sources: dict[str, Source]
    """By model: the source of its rationales."""
    package_version: str = __version__


class Origin(Strict):
    """The origin of an item."""

    model: str
    example: str


class Key(Strict):
    """`key.json`."""

    items_sha256: str
    items: dict[str, Origin]


@dataclass(frozen=True)
class Study:
    """A study without its key."""

    folder: Path
    info: StudyInfo
    items: tuple[Item, ...]


def write_items(folder: Path, items: list[Item]) -> str:
    """Write the items; return their hash."""
    path = folder / ITEMS
    write_text(path, "".join(json_line(item.model_dump(mode="json")) for item in items))
    return sha256_of(path)


def write_info(folder: Path, info: StudyInfo, key: Key) -> None:
    """Write `study.json` and `key.json`."""
    write_json(folder / STUDY, info.model_dump(mode="json"))
    write_json(folder / KEY, key.model_dump(mode="json"))


def open_study(folder: Path) -> Study:
    """Read a study folder without its key; refuse one that changed."""
    info: StudyInfo = validate(StudyInfo, _read(folder / STUDY), str(folder / STUDY))
    path = folder / ITEMS
    if not path.is_file() or sha256_of(path) != info.items_sha256:
        raise DataError(
            f"{path}: missing or changed since the study was prepared. Copy it again, or prepare a new study."
        )
    # The hash guarantees the content, so rows are not checked.
    rows = path.read_text(encoding="utf-8").split("\n")[:-1]
    return Study(folder, info, tuple(Item.model_validate_json(row) for row in rows))


def open_key(study: Study, path: Path | None = None) -> Key:
    """Read the key, which maps each item to its model."""
    path = path or study.folder / KEY
    key: Key = validate(Key, _read(path), str(path))
    if key.items_sha256 != study.info.items_sha256:
        raise DataError(f"{path}: belongs to another study. Give the key made with {study.folder / ITEMS}.")
    return key


def _read(path: Path) -> Any:
    try:
        return read_json(path)
    except FileNotFoundError:
        is_key = path.name == KEY
        advice = "Give the path of the key." if is_key else "Make a study with `rationalize rate prepare`."
        raise DataError(f"{path}: no such file. {advice}", field="key" if is_key else ()) from None
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: cannot be read as JSON: {error}") from None
