"""From one format to another: read everything, then write everything or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rationalize.data.eraser_writer import write_eraser
from rationalize.data.jsonl import write_jsonl
from rationalize.data.source import load
from rationalize.errors import ConfigError
from rationalize.files import MANIFEST, atomic_dir
from rationalize.types import Example

Format = Literal["eraser", "jsonl"]
Watch = Callable[[str, Sequence[Example]], Iterable[Example]]
"""Passes on the examples of a split, to show progress."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was written: rows of each split, and how often something could not be kept as it was."""

    out: str
    rows: dict[str, int]
    changes: dict[str, int]


def convert(
    source: Path,
    out: Path,
    to: Format,
    *,
    force: bool = False,
    text_field: str = "text",
    label_field: str = "label",
    watch: Watch = lambda split, examples: examples,
) -> Conversion:
    """Read a data set of any format and write it as a folder of `<split>.jsonl`, for ERASER with `docs`.

    Raises:
        ConfigError: If `out` exists and may not be replaced.
        DataError: If a row cannot be read, or cannot be said in the other format.
    """
    require_free(out, force=force)
    data = load(source, text_field=text_field, label_field=label_field)
    changes = {f"read: {kind}": times for kind, times in data.notes.items()}
    with atomic_dir(out) as folder:
        splits = {split: watch(split, examples) for split, examples in data.splits.items()}
        if to == "eraser":
            changes |= write_eraser(folder, splits)
        else:
            for split, examples in splits.items():
                write_jsonl(folder / f"{split}.jsonl", examples)
    return Conversion(str(out), {split: len(examples) for split, examples in data.splits.items()}, changes)


def require_free(out: Path, *, force: bool) -> None:
    """Refuse to replace anything but, if forced, a folder that this package wrote."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out.is_dir() and (out / MANIFEST).is_file()):
        raise ConfigError(
            f"{out}: exists and was not written by rationalize (it has no {MANIFEST}), so it is not "
            "replaced. Choose another place or remove it yourself."
        )
    if not force:
        raise ConfigError(f"{out}: exists. Choose another place, or add --force to replace it.")
