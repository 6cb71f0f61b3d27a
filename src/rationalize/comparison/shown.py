"""A few explained examples of a cell, kept in its run folder to be shown in the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rationalize.data.jsonl import read_jsonl, write_jsonl
from rationalize.files import json_line, write_text
from rationalize.inference.engine import Explained
from rationalize.types import Example, Explanation


def keep_shown(folder: Path, split: str, items: Sequence[Explained]) -> None:
    """Keep these examples and what was said of them."""
    folder.mkdir(exist_ok=True)
    write_jsonl(folder / f"{split}.jsonl", [item.encoded.example for item in items])
    rows = "".join(json_line(item.explanation.to_dict()) for item in items)
    write_text(folder / f"{split}-explained.jsonl", rows)


def read_shown(folder: Path, split: str) -> list[tuple[Example, Explanation]]:
    """The examples of a cell's run that are kept to be shown; none if the run folder is gone."""
    examples, explained = (folder / "shown" / f"{split}{part}.jsonl" for part in ("", "-explained"))
    if not (examples.is_file() and explained.is_file()):
        return []
    rows = explained.read_text(encoding="utf-8").splitlines()
    return list(
        zip(read_jsonl(examples), [Explanation.from_dict(json.loads(row)) for row in rows], strict=True)
    )
