from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rationalize.data.source import load
from rationalize.data.validate import check
from rationalize.errors import ConfigError, DataError
from searches import search


def line(**row):
    return json.dumps(row) + "\n"


GOOD = line(text="one two", label="A") + line(text="three", label="B")


def many_rows(n=10):
    return "".join(line(text=f"text {i}", label="AB"[i % 2]) for i in range(n))


def make(folder, **splits):
    usual = {"train": GOOD, "val": line(text="v", label="A"), "test": line(text="t", label="B")}
    for split, content in (usual | splits).items():
        (folder / f"{split}.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def make_eraser(folder, *rows, **docs):
    (folder / "docs").mkdir(parents=True)
    for docid, text in docs.items():
        (folder / "docs" / docid).write_text(text)
    (folder / "train.jsonl").write_text("".join(line(**row) for row in rows))
    return folder


def kinds(report):
    return {kind: times for _, kind, times in report.counts}


def test_a_good_set_has_no_problems(tmp_path):
    report = check(make(tmp_path))
    assert (report.ok, report.counts, report.problems, report.format) == (True, (), (), "jsonl")
    assert {name: (split.read, split.kept, split.rejected) for name, split in report.splits.items()} == {
        "train": (2, 2, 0),
        "dev": (1, 1, 0),
        "test": (1, 1, 0),
    }


def test_every_bad_row_is_found_and_the_counts_add_up(tmp_path):
    train = b"\n".join(
        [
            b'{"text": "fine", "label": "A"}',
            b"\xff",
            b"{",
            b"[]",
            b'{"label": "A"}',
            b'{"text": "", "label": "A"}',
            b'{"text": "ab", "label": [], "rationale": [[0, 9], [2, 1]]}',
            b'{"text": "ab", "label": "A", "id": "train-1"}',
            b'{"text": "good", "label": "B"}',
        ]
    )
    report = check(make(tmp_path, train=train))
    split = report.splits["train"]
    assert (split.read, split.kept, split.rejected) == (9, 2, 7)
    assert kinds(report) == {
        "duplicate id": 1,
        "empty text": 1,
        "missing field": 1,
        "not JSON": 1,
        "not UTF-8": 1,
        "not an object": 1,
        "offset outside the text": 1,
        "start after end": 1,
        "wrong type": 1,
    }
    places = {problem.kind: problem.place for problem in report.problems}
    assert places["not UTF-8"] == f"{tmp_path}/train.jsonl:2"
    assert places["start after end"] == f"{tmp_path}/train.jsonl:7"
    assert {problem.field for problem in report.problems} == {
        "",
        "text",
        "label",
        "id",
        "rationale[0]",
        "rationale[1]",
    }


@pytest.mark.parametrize(
    ("splits", "kind", "severity"),
    [
        ({"train": line(text="a", label="A")}, "fewer than two classes", "error"),
        ({"train": GOOD + line(text="c")}, "missing label", "error"),
        ({"test": line(text="c")}, "missing label", "warning"),
        ({"val": line(text="c")}, "missing label", "error"),
        ({"val": line(text="c", label="C")}, "label unknown in train", "error"),
        ({"test": line(text="c", label="C")}, "label unknown in train", "warning"),
        ({"train": GOOD + line(text="c", label="a ")}, "labels spelled alike", "warning"),
        ({"train": GOOD + line(text="one two", label="A")}, "repeated text", "warning"),
        ({"train": GOOD + line(text="one two", label="B")}, "same text, another label", "warning"),
        ({"test": line(text="three", label="B")}, "text in two splits", "warning"),
        ({"test": line(text="three", label="B", query="q")}, "documents in two splits", "warning"),
        ({"test": "\ufeff" + line(text="t", label="B")}, "byte-order mark", "warning"),
        ({"test": line(text="t", label="B").replace("\n", "\r\n")}, "CRLF line ends", "warning"),
        ({"test": line(text="t", label="B") + "\n\n"}, "blank line", "warning"),
        ({"test": ""}, "no rows", "error"),
        ({"test": "{\n"}, "no row can be used", "error"),
        ({"test": line(text="t", label="B").encode("utf-16")}, "not UTF-8", "error"),
        ({"test": line(text="t u", label="B", rationale=[[0, 3], [2, 3]])}, "overlapping spans", "warning"),
        (
            {"test": line(text="tall", label="B", rationale=[[0, 2]])},
            "span cuts letters off a word",
            "warning",
        ),
        ({"test": line(text="tall", label="B", rationale=[[2, 2]])}, "zero-length span", "warning"),
    ],
)
def test_each_kind_of_problem(tmp_path, splits, kind, severity):
    report = check(make(tmp_path, **splits))
    assert (severity, kind) in {(its, kind) for its, kind, _ in report.counts}
    assert report.ok == (report.errors == 0)
    assert report.ok or severity == "error"


@pytest.mark.parametrize(("text", "end"), [("good.", 4), ("日本語です", 2)])
def test_spans_that_end_beside_punctuation_or_between_unspaced_letters_are_fine(tmp_path, text, end):
    report = check(make(tmp_path, test=line(text=text, label="A", rationale=[[0, end]])))
    assert not any(kind.startswith("span") for kind in kinds(report))


def test_missing_splits_are_named(tmp_path):
    (tmp_path / "train.jsonl").write_text(many_rows())
    report = check(tmp_path)
    assert kinds(report) == {"no dev split": 1, "no test split": 1}
    assert [note for note in report.notes if "2 training examples were set aside" in note]


def test_what_the_official_scorer_swallows(tmp_path):
    def evidence(docid, start, end, **more):
        return {"docid": docid, "start_token": start, "end_token": end, **more}

    def row(id, *evidences, **more):
        return {"annotation_id": id, "classification": id[0], "evidences": [list(evidences)], **more}

    make_eraser(
        tmp_path,
        row("a1", evidence("d", 0, 1, text="one")),
        row("a2", evidence("missing", 0, 1)),
        row("b1", evidence("d", 3, 4), docids=["d", "d"]),
        row("b2", evidence("d", 2, 3), query="late"),
        row("b3", evidence("d", 3, 3)),
        row("b4", evidence("d", 1, 2, text="three"), evidence("d", 0, 2)),
        d="one two three",
        e="nobody reads this",
    )
    report = check(tmp_path)
    assert kinds(report) == {
        "unknown document": 1,
        "offset outside the text": 1,
        "document named twice": 1,
        "field only in later rows": 2,
        "zero-length span": 1,
        "evidence text differs": 1,
        "overlapping spans": 1,
        "same text, another label": 2,
        "no dev split": 1,
        "no test split": 1,
        "fewer than two classes": 1,  # once a dev part has been set aside
    }
    assert {"documents in no split": 1, "rows without evidence": 1}.items() <= report.notes.items()
    assert (report.format, report.splits["train"].rejected) == ("eraser", 2)


def test_uneven_coverage(tmp_path):
    train = line(text="a b c d e f g h i j", label="A", rationale=[[0, 1]]) + line(text="x", label="B")
    report = check(make(tmp_path, train=train, test=line(text="a b", label="B", rationale=[[0, 1]])))
    (problem,) = report.problems
    assert (problem.kind, problem.seen) == (
        "gold share differs between splits",
        "gold on 50.0% of the words, 10.0% in train",
    )


def test_at_most_fifty_are_listed_and_some_of_every_kind(tmp_path):
    train = GOOD + "{\n" * 80 + line(text=1, label="A") * 80 + "\n" * 80
    report = check(make(tmp_path, train=train))
    assert len(report.problems) == 50
    assert {problem.kind for problem in report.problems} == {"not JSON", "wrong type"}
    assert kinds(report) == {"not JSON": 80, "wrong type": 80, "blank line": 80}
    assert (report.errors, report.warnings) == (160, 80)


def test_a_path_that_is_not_there(tmp_path):
    report = check(tmp_path / "nowhere")
    assert (report.ok, report.splits, kinds(report)) == (False, {}, {"cannot be opened": 1})


def test_truncation(tmp_path):
    make(tmp_path, test=line(text="a b c d", label="A", rationale=[[0, 1], [6, 7]]))
    report = check(tmp_path, pieces=lambda text: [(i, i + 1) for i in range(0, len(text), 2)], max_tokens=5)
    assert kinds(report) == {"gold lost to truncation": 1}
    assert report.splits["test"].truncation.gold_words_lost == 1
    with pytest.raises(ConfigError, match="max_tokens"):
        check(tmp_path, max_tokens=5)


def test_nothing_is_changed(tmp_path):
    make(tmp_path, train=GOOD + "{\n\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    json.dumps(check(tmp_path).to_dict(), allow_nan=False)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
offsets = st.lists(st.lists(st.integers(-1, 9) | st.booleans(), min_size=1, max_size=4), max_size=2)
tokens = st.integers(-1, 4) | values
evidences = st.fixed_dictionaries(
    {"docid": st.just("d") | values, "start_token": tokens, "end_token": tokens}
)
rows = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=8) | values,
        "label": st.sampled_from("AB") | values,
        "id": st.sampled_from("xyz") | values,
        "rationale": offsets | values,
        "documents": values,
        "annotation_id": st.sampled_from("dx") | values,
        "classification": st.sampled_from("AB") | values,
        "docids": st.just(["d"]) | values,
        "evidences": st.lists(st.lists(evidences, max_size=2), max_size=2) | values,
    },
)
lines = rows.map(lambda row: json.dumps(row).encode()) | st.binary(max_size=12)


@search(120)
@given(st.lists(lines, max_size=5).map(b"\n".join), st.booleans())
def test_check_never_fails_and_agrees_with_load(content, eraser):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if eraser:
            make_eraser(folder, d="one two three")
        (folder / "train.jsonl").write_bytes(content)
        report = check(folder)
        json.dumps(report.to_dict(), allow_nan=False)
        split = report.splits["train"]
        assert split.read == split.kept + split.rejected
        try:
            loaded = len(load(folder).splits["train"])
        except DataError:
            assert not report.ok
        else:
            assert (split.kept, split.rejected) == (loaded, 0)
