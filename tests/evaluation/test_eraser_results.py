"""ERASER's result format: the scorer's rules, and our own numbers out of the file alone."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from closed_form import engine

from rationalize.data._eraser_documents import tokenize
from rationalize.evaluation._faithfulness import measure_faithfulness
from rationalize.evaluation.eraser_results import eraser_results, split_scorer_tokens
from rationalize.evaluation.scoring import evaluate
from rationalize.metrics.instance import span_mask
from rationalize.metrics.soft import soft_scores
from rationalize.metrics.spans import iou_scores_eraser
from rationalize.metrics.tokens import token_scores_eraser
from rationalize.types import Document, Example, Span


def documents(*texts):
    found, at = [], 0
    for index, text in enumerate(texts):
        found.append(Document(f"d{index}", at, at + len(text)))
        at += len(text) + 1
    return {"text": "\n".join(texts), "documents": tuple(found)}


CORPUS = [
    Example("none", "bad plot", "NEG", rationale=(Span(0, 3),)),
    Example(
        "two",
        label="POS",
        rationale=(Span(4, 8), Span(18, 27)),
        **documents("the film bad", "plot\nthe good good plot", ""),
    ),
    Example("one", "the good film dire bad good", "POS", rationale=(Span(4, 13),), query="the plot"),
    Example("late", "the film " * 40 + "good", "NEG", rationale=(Span(360, 364),)),
]


@pytest.fixture(scope="module")
def explained():
    return list(engine().explain(CORPUS, truncate=True))


@pytest.fixture(scope="module")
def measured(explained):
    return measure_faithfulness(engine(), explained)


def read_back(rows):
    """As a scorer sees them: from JSON Lines."""
    return [json.loads(json.dumps(row, allow_nan=False)) for row in rows]


def texts_of(example):
    unnamed = {f"test.{example.id}": example.text}
    named = {each.id: example.text[each.start : each.end] for each in example.documents}
    return {docid: text for docid, text in named.items() if text} or unnamed


def test_the_scorers_rules_are_kept(explained, measured):
    rows, _ = eraser_results(explained, split="test", faithfulness=measured)
    rows = read_back(rows)
    assert sorted(row["annotation_id"] for row in rows) == sorted(example.id for example in CORPUS)
    assert len({tuple(row) for row in rows}) == 1, "optional fields in all rows or in none"
    examples = {example.id: example for example in CORPUS}
    for row in rows:
        texts = texts_of(examples[row["annotation_id"]])
        assert {each["docid"] for each in row["rationales"]} == set(texts)
        for each in row["rationales"]:
            length = len(texts[each["docid"]].split())
            assert len(each["soft_rationale_predictions"]) == length
            spans = [(span["start_token"], span["end_token"]) for span in each["hard_rationale_predictions"]]
            assert all(start < end <= length for start, end in spans)
            assert all(end < start for (_, end), (start, _) in pairwise(spans))
        assert row["classification"] in row["classification_scores"]
        assert sum(row["classification_scores"].values()) == pytest.approx(1)
        assert [each["threshold"] for each in row["thresholded_scores"]] == [0.01, 0.05, 0.1, 0.2, 0.5]


def test_a_row_with_a_selection_comes_first_in_a_document_with_one(explained):
    rows, notes = eraser_results(explained, split="test")
    assert [row["annotation_id"] for row in rows] == ["two", "none", "one", "late"]
    assert [each["docid"] for each in rows[0]["rationales"]] == ["d1", "d0"]
    assert rows[0]["rationales"][0]["hard_rationale_predictions"] == [{"start_token": 2, "end_token": 4}]
    assert notes == [
        "Row 'two' comes first: with no selection in the first row, the scorer would skip all hard scores."
    ]
    assert eraser_results(explained[2:], split="test")[1] == []
    _, notes = eraser_results(explained[:1], split="test")
    assert "skip all hard scores" in notes[0]


def test_documents_that_nobody_named_are_called_as_convert_calls_them(explained):
    rows, _ = eraser_results(explained, split="test")
    assert [row["rationales"][0]["docid"] for row in rows[1:]] == ["test.none", "test.one", "test.late"]


def test_what_was_not_read_has_a_score_of_nought(explained):
    late = eraser_results(explained, split="test")[0][-1]["rationales"][0]
    assert len(late["soft_rationale_predictions"]) == 81
    assert set(late["soft_rationale_predictions"][62:]) == {0.0}


def test_labels_go_by_the_names_of_the_data(explained, measured):
    names = {"POS": "positive", "NEG": "negative"}
    rows, notes = eraser_results(explained, split="test", faithfulness=measured, names=names)
    assert {row["classification"] for row in rows} == {"positive", "negative"}
    for row in rows:
        for scores in (row, *row["thresholded_scores"]):
            for part in ("comprehensiveness", "sufficiency"):
                assert set(scores[f"{part}_classification_scores"]) == {"positive", "negative"}
    assert len(notes) == 1


def test_a_label_that_the_data_lack_is_reported(explained):
    foreign = eraser_results(explained[2:3], split="test", names={"NEG": "other"})
    assert foreign[1] == ["Label(s) other do not occur in these data: the official scorer stops at them."]


def test_our_numbers_can_be_had_from_the_file_alone(explained, measured):
    rows = read_back(eraser_results(explained, split="test", faithfulness=measured)[0])
    table = evaluate(explained, split="test", faithfulness=measured).metrics
    examples = {example.id: example for example in CORPUS}
    gold, hard, soft = [], [], []
    for row in rows:
        example = examples[row["annotation_id"]]
        starts = {each.id: each.start for each in example.documents}
        for each in row["rationales"]:
            text = texts_of(example)[each["docid"]]
            tokens = tokenize("", text).tokens
            at = starts.get(each["docid"], 0)
            here = [span for span in example.rationale if at <= span.start < at + len(text)]
            touched = [tokens.touching(span.start - at, span.end - at) for span in here]
            gold.append([(part.start, part.stop) for part in touched])
            hard.append(
                [(part["start_token"], part["end_token"]) for part in each["hard_rationale_predictions"]]
            )
            soft.append(each["soft_rationale_predictions"])
    masks = [(span_mask(g, len(s)), span_mask(h, len(s))) for g, h, s in zip(gold, hard, soft, strict=True)]
    assert token_scores_eraser(masks).macro.f1 == pytest.approx(table["token_f1_eraser"])
    assert iou_scores_eraser(zip(gold, hard, strict=True)).macro.f1 == pytest.approx(
        table["iou_f1_eraser@0.5"]
    )
    ranked = zip(soft, (mask for mask, _ in masks), strict=True)
    assert soft_scores(ranked).auprc == pytest.approx(table["auprc"])

    def drop(part):
        def of(row, scores):
            label = row["classification"]
            return row["classification_scores"][label] - scores[f"{part}_classification_scores"][label]

        plain = [of(row, row) for row in rows]
        curve = [of(row, each) for row in rows for each in row["thresholded_scores"]]
        return sum(plain) / len(plain), sum(curve) / len(curve)

    for part in ("comprehensiveness", "sufficiency"):
        assert drop(part) == pytest.approx((table[part], table[f"{part}_aopc"]))


def test_words_without_spaces_between_them_are_one_token():
    (item,) = engine().explain([Example("zh", "这部 电影\n好看")])
    assert len(item.explanation.words) == 6
    rationale = eraser_results([item], split="test")[0][0]["rationales"][0]
    assert len(rationale["soft_rationale_predictions"]) == 3


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a b\nc  d \n\n e", ["a", "b", "c", "d", "e"]),
        ("a\tb c\r\nd", ["a\tb", "c", "d"]),
        ("\t a\u00a0b \u00a0\n", ["a\u00a0b"]),
        ("", []),
    ],
)
def test_tokens_are_cut_as_the_scorer_cuts_them(text, tokens):
    assert [text[each.start : each.end] for each in split_scorer_tokens(text)] == tokens
