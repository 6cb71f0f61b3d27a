"""Whatever stands where in a file: it is read, or refused in words; never anything else."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_annotation import FIRST

from rationalize.data.annotation import FORMATS, ImportOptions, recognize_format
from rationalize.errors import RationalizeError
from searches import search

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a", "label", "start"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["value", "start", "label", "text"]), inner, max_size=2)
    ),
    max_leaves=4,
)
FLAT = {
    "argilla": {
        "id": "1",
        "text": "a b",
        "q.responses": [[{"start": 0, "end": 1, "label": "x"}]],
        "q.responses.users": ["u"],
    },
    "label_studio": {
        "text": "a b",
        "id": 1,
        "e": [{"start": 0, "end": 1, "labels": ["x"]}],
        "m": "p",
        "annotator": 1,
        "annotation_id": 2,
    },
    "doccano": {
        "text": "a b",
        "annotations": [{"label": 1, "start_offset": 0, "end_offset": 1, "user": 1}],
        "cats": ["x"],
    },
    "prodigy": {
        "text": "a b",
        "spans": [{"start": 0, "end": 1, "token_start": 0, "token_end": 0}],
        "tokens": [{"text": "a"}],
        "accept": ["x"],
        "meta": {"id": 1},
        "answer": "accept",
    },
}
SEEDS = [(name, record) for shapes in (FIRST, FLAT) for name, record in shapes.items() if name]


def places_in(value, path=()):
    """Every place in a value, the value itself last."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from places_in(item, (*path, key))
    yield path


def put(value, path, new):
    if not path:
        return new
    target = value = copy.deepcopy(value)
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = new
    return value


@search(400)
@given(st.data())
def test_a_changed_record(data):
    name, record = data.draw(st.sampled_from(SEEDS))
    changed = put(record, data.draw(st.sampled_from(list(places_in(record)))), data.draw(VALUES))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        path.write_text(json.dumps([changed, record]))
        recognize_format(path)
        try:
            result = FORMATS[name].read(path, ImportOptions(strict=False))
        except RationalizeError:
            return
    assert result.read <= 2
    for example in result.examples:
        for span in example.rationale or ():
            assert 0 <= span.start < span.end <= len(example.text)


@search(200)
@given(
    st.lists(
        st.sampled_from(["T1", "\t", " ", "why", "0", "3", "4", ";", "good", "\n", "\r", "#1", "-1", "９"]),
        max_size=12,
    ).map("".join)
)
def test_a_changed_standoff_file(content):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "d.txt").write_text("good film")
        (Path(folder) / "d.ann").write_text(content)
        result = FORMATS["brat"].read(Path(folder), ImportOptions(strict=False))
    assert result.read == 1


@pytest.mark.parametrize("name", FIRST)
def test_the_seeds_themselves_are_read(name, tmp_path):
    if name:
        (tmp_path / "a.json").write_text(json.dumps([FIRST[name]]))
        assert len(FORMATS[name].read(tmp_path / "a.json").examples) == 1
