from __future__ import annotations

import json

import pytest
from annotated import explain, marked, write_array, write_rows

from rationalize.data.annotation import ImportOptions
from rationalize.data.annotation.hatexplain import FORMAT
from rationalize.errors import DataError
from rationalize.types import Example, Span


def people(*labels):
    return [
        {"label": label, "annotator_id": number, "target": ["None"]} for number, label in enumerate(labels, 1)
    ]


POSTS = {
    "1_gab": {
        "post_id": "1_gab",
        "annotators": people("hate", "hate", "offensive"),
        "rationales": [[0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 1, 0]],
        "post_tokens": ["you", "utter", "fool", "<user>"],
    },
    "2_gab": {
        "post_id": "2_gab",
        "annotators": people("normal", "normal", "hate"),
        "rationales": [],
        "post_tokens": ["good", "day"],
    },
}


def test_posts_by_id(tmp_path):
    path = write_array(tmp_path / "dataset.json", POSTS)
    assert FORMAT.recognize(path)
    result = FORMAT.read(path)
    assert result.examples == (
        Example("1_gab", "you utter fool <user>", "hate", rationale=(Span(10, 14),)),
        Example("2_gab", "good day", "normal", rationale=()),
    )
    assert FORMAT.read(path, ImportOptions(unmarked="unknown")).examples[1].rationale is None
    assert marked(FORMAT.read(path, ImportOptions(annotators="union")).examples[0]) == ["you", "utter fool"]
    assert marked(FORMAT.read(path, ImportOptions(annotators="1")).examples[0]) == ["utter fool"]


def test_masks_are_no_offsets_that_could_count_anything_else(tmp_path):
    # Counted in UTF-16 units, the place of "b." would be that of the word "ab", whose borders fit better.
    row = {"id": "e", "text": "👍 ab.", "tokens": ["👍", "a", "b."], "rationale": [0, 0, 1]}
    result = FORMAT.read(write_rows(tmp_path / "d.jsonl", row))
    assert (marked(result.examples[0]), result.converted, result.notes) == (["b."], 0, {})


def test_agreement_is_that_of_the_masks(tmp_path):
    agreement = FORMAT.read(write_array(tmp_path / "d.json", POSTS)).agreement
    # Pairs of people share "fool" three times over, and mark 2 + 1 + 2 words.
    assert agreement.token_f1 == pytest.approx(2 * 3 / (2 * 5))
    assert agreement.label_match == pytest.approx(2 / 6)


def test_fewer_masks_than_people_and_columns_of_people(tmp_path):
    rows = [
        {"id": 7, "tokens": ["a", "b"], "rationales": [[1, 0], [1, 1]], "annotators": people("x", "x", "y")},
        {"id": 8, "tokens": ["a", "b"], "rationale": [0, 1], "label": 1},
        {
            "id": 9,
            "post_tokens": ["a"],
            "annotators": {"label": [2, 2], "annotator_id": [5, 6], "target": [[], []]},
        },
    ]
    result = FORMAT.read(write_rows(tmp_path / "d.jsonl", *rows))
    assert [(example.label, example.rationale) for example in result.examples] == [
        ("x", (Span(0, 3),)),
        ("1", (Span(2, 3),)),
        ("2", None),
    ]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"rationales": [[0]]}, r"rationales\[0\]: wrong number of marks: saw 1, expected 2"),
        ({"rationales": [[0, 1], [0, 2]]}, r"rationales\[1\]: wrong type"),
        ({"rationales": [], "tokens": ["a", 1]}, "tokens: wrong type"),
        ({"rationales": [[0, 1]], "text": "b a"}, r"tokens\[1\]: token not in the text"),
        ({"rationales": [], "tokens": [""]}, "tokens: empty text"),
    ],
)
def test_a_bad_record_is_named(tmp_path, row, words):
    path = write_rows(tmp_path / "d.jsonl", {"tokens": ["a", "b"], **row})
    with pytest.raises(DataError, match=f"d.jsonl:1: {words}"):
        FORMAT.read(path)


def test_predictions_name_the_model_as_annotator(tmp_path):
    example = Example("a", "so  good", "neg")
    FORMAT.write_predictions(tmp_path / "p.json", [explain(example, "pos", [(5, 6)])])
    assert json.loads((tmp_path / "p.json").read_text())["a"] == {
        "post_id": "a",
        "annotators": [{"label": "pos", "annotator_id": "un_rat"}],
        "rationales": [[0, 1]],
        "post_tokens": ["so", "good"],
        "text": "so  good",
    }
