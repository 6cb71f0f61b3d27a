"""What stands where doccano's counting of characters is named, and is no name."""

from __future__ import annotations

import json

import pytest

from rationalize.data.annotation import FORMATS


@pytest.mark.parametrize("odd", [{}, [], None, 3, "nonsense"])
def test_a_counting_that_is_none_is_ignored(tmp_path, odd):
    row = {"id": 1, "text": "one two", "label": [[0, 3, "x"]], "offsets": odd}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    assert len(FORMATS["doccano"].read(tmp_path / "a.jsonl").examples) == 1
