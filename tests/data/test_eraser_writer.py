"""What is written can be read by the official tools, and back here without loss."""

from __future__ import annotations

import json

from rationalize.data._eraser import read_eraser
from rationalize.data._eraser_writer import write_eraser
from rationalize.types import Example, Span


def test_rows_have_only_fields_that_the_official_reader_knows(tmp_path):
    """It makes an object of every row, by keyword: one field more and it stops."""
    known = {"annotation_id", "query", "evidences", "classification", "query_type", "docids"}
    examples = [Example("a", "one two", "X"), Example("b", "three four", "Y", rationale=(Span(0, 5),))]
    write_eraser(tmp_path, {"train": examples})
    for line in (tmp_path / "train.jsonl").read_text().splitlines():
        assert json.loads(line).keys() <= known
    assert list(read_eraser(tmp_path, "train")) == examples
