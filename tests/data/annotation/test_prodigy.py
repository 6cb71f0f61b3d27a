from __future__ import annotations

import json

import pytest
from annotated import explain, marked, write_rows

from rationalize.data.annotation import ImportOptions
from rationalize.data.annotation.prodigy import FORMAT
from rationalize.errors import DataError
from rationalize.types import Example, Span

TOKENS = [
    {"text": "😀", "start": 0, "end": 1, "id": 0, "ws": True},
    {"text": "First", "start": 2, "end": 7, "id": 1, "ws": True},
    {"text": "look", "start": 8, "end": 12, "id": 2, "ws": False},
]


def row(text="😀 First look", answer="accept", **more):
    return {"text": text, "_input_hash": 9, "_task_hash": 8, "answer": answer, **more}


def span(start, end, **more):
    return {"start": start, "end": end, "label": "WHY", **more}


def test_an_export_as_the_documentation_shows_it(tmp_path):
    options = [{"id": "pos", "text": "👍"}, {"id": "neg", "text": "👎"}]
    path = write_rows(
        tmp_path / "out.jsonl",
        row(spans=[span(2, 12, token_start=1, token_end=2)], tokens=TOKENS, options=options, accept=["pos"]),
        row("Another", "reject", _input_hash=2, spans=[]),
        row("Third one", "ignore", _input_hash=3),
        row("Unseen", None, _input_hash=4, label="neg", spans=[span(0, 6)]),
        row("Empty", _input_hash=5, spans=[], label="pos"),
    )
    assert FORMAT.recognize(path)
    result = FORMAT.read(path)
    assert result.examples == (
        Example("out-1", "😀 First look", "pos", rationale=(Span(2, 12),)),
        Example("out-4", "Unseen", "neg"),
        Example("out-5", "Empty", "pos", rationale=()),
    )
    assert result.notes == {
        "rows left out, as their answer is reject": 1,
        "rows left out, as their answer is ignore": 1,
        "rows without an answer, read as not annotated": 1,
        "texts that nobody marked": 1,
    }


def test_tokens_tell_what_offsets_count(tmp_path):
    shifted = span(3, 8, token_start=1, token_end=1)
    result = FORMAT.read(write_rows(tmp_path / "a.jsonl", row(spans=[shifted], tokens=TOKENS)))
    assert (marked(result.examples[0]), result.converted) == (["First"], 1)
    wrong = write_rows(
        tmp_path / "b.jsonl", row(spans=[span(8, 12, token_start=1, token_end=1)], tokens=TOKENS)
    )
    with pytest.raises(
        DataError, match=r"b.jsonl:1: spans\[0\]: offsets do not fit the text: .* beside 'First'"
    ):
        FORMAT.read(wrong)


def test_rows_on_one_input_belong_together(tmp_path):
    path = write_rows(
        tmp_path / "a.jsonl",
        row(spans=[span(2, 7)], _annotator_id="db-ann"),
        row(spans=[span(8, 12)], _annotator_id="db-ann"),
        row(label="pos", _annotator_id="db-ann"),
        row(spans=[span(8, 12)], label="neg", _annotator_id="db-bob"),
        row(label="pos", _annotator_id="db-eve"),
    )
    result = FORMAT.read(path, ImportOptions(annotators="intersection"))
    assert result.examples == (Example("a-1", "😀 First look", "pos", rationale=(Span(8, 12),)),)
    assert result.annotators == {"db-ann": 1, "db-bob": 1, "db-eve": 1}
    assert (result.agreement.marked_texts, result.agreement.labeled_texts) == (1, 1)


def test_one_person_may_not_choose_two_classes(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", row(label="pos"), row(label="neg"))
    with pytest.raises(DataError, match="several labels: saw 'pos' and 'neg'"):
        FORMAT.read(path)


def test_an_error_in_a_later_row_names_that_row(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", row(spans=[span(2, 7)]), row(spans=[span(2, 99)]))
    with pytest.raises(DataError, match=r"a.jsonl:2: spans\[0\]: offset outside the text"):
        FORMAT.read(path)
    assert FORMAT.read(path, ImportOptions(strict=False)).examples == ()


def test_texts_that_share_a_meta_id_are_told_apart(tmp_path):
    rows = [row(f"text {number}", _input_hash=number, spans=[], meta={"id": "p"}) for number in range(2)]
    assert [example.id for example in FORMAT.read(write_rows(tmp_path / "a.jsonl", *rows)).examples] == [
        "p",
        "p-2",
    ]


def test_predictions_are_plain_tasks_without_an_answer(tmp_path):
    example = Example("a", "so good", "neg", query="why?", rationale=(Span(0, 2),))
    FORMAT.write_predictions(tmp_path / "p.jsonl", [explain(example, "pos", [(3, 7)])])
    assert json.loads((tmp_path / "p.jsonl").read_text()) == {
        "text": "so good",
        "label": "pos",
        "spans": [{"start": 3, "end": 7, "label": "rationale", "text": "good"}],
        "meta": {"id": "a", "query": "why?", "model": "un_rat", "score": 0.75},
    }
    assert FORMAT.read(tmp_path / "p.jsonl").examples[0].rationale is None
    FORMAT.write(tmp_path / "g.jsonl", [example])
    assert json.loads((tmp_path / "g.jsonl").read_text())["answer"] == "accept"
