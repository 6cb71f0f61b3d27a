"""Checks of more rows than are held in memory find what checks in memory find."""

from __future__ import annotations

import pytest

from rationalize.data import _digest_set, _first_places, validate
from rationalize.data.read_options import ReadOptions
from rationalize.data.validate import check
from rationalize.files import json_line, write_text
from rationalize.seeding import python_random

WORDS = ("river", "Table", "garden", "engine", "letter", "window!", "bottle", "carpet")


def make_rows(part, n):
    """Rows with everything that a check of several rows can find."""
    random = python_random(0, part)
    rows = []
    for index in range(n):
        text = " ".join(random.choice(WORDS) for _ in range(random.choice((2, 3, 9))))
        row = {"id": f"{part}{index}", "text": text, "label": random.choice(("pos", "neg", "Pos"))}
        if index % 11 == 3:
            row["label"] = None
        if index % 13 == 5:
            row["id"] = f"{part}{index - 4}"
        if index % 7 == 1:
            row["text"] = text.upper() + "?"
        if index % 5 == 2:
            row["rationale"] = [[0, 3], [1, 5]]
        if index % 17 == 4:
            row["query"] = "why?"
        if index % 19 == 6:
            row["text"] = "\u3164"
        rows.append(row)
    return rows


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize(
    "splits", [("posts",), ("train",), ("train", "dev", "test"), ("dev", "test")], ids="-".join
)
def test_rows_on_disk_are_checked_as_rows_in_memory(splits, drop, tmp_path, monkeypatch):
    for name in splits:
        write_text(tmp_path / f"{name}.jsonl", "".join(map(json_line, make_rows(name, 180))))
    options = ReadOptions(drop_unlabeled=drop)
    held = check(tmp_path, options)
    assert held.problems
    monkeypatch.setattr(validate, "HELD_ROWS", 20)
    monkeypatch.setattr(_first_places, "HELD_KEYS", 20)
    monkeypatch.setattr(_digest_set, "WAITING", 7)
    assert check(tmp_path, options) == held
