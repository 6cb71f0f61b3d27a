"""Evaluation of selectors whose score is known: the oracle, the idle one, the greedy one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers import LABELS, tiny_corpus, tiny_model, tiny_tokenizer
from rationalize.evaluation.scoring import evaluate, quick_scores, to_instances
from rationalize.inference.engine import Explained
from rationalize.text.windows import TextEncoder
from rationalize.text.words import mask_spans, word_mask
from rationalize.types import Document, Example, Explanation, Span
from small_tokenizers import byte_level


def explained(example, spans, *, label=None, max_tokens=64, truncate=False, tokenizer=None, scores=None):
    """An explanation that selects the words touched by the spans."""
    encoded = TextEncoder(tokenizer or tiny_tokenizer(), max_tokens).encode(example, truncate=truncate)
    selected = word_mask(encoded.words, spans)
    label = label or example.label or LABELS[0]
    probabilities = {each: float(each == label) for each in LABELS}
    explanation = Explanation(
        text=example.text,
        label=label,
        probabilities=probabilities,
        spans=mask_spans(encoded.words, selected),
        words=encoded.words,
        scores=tuple(scores or map(float, selected)),
        selected=tuple(selected),
        faithful=True,
        method="oracle",
        from_rationale=probabilities,
        cut_off=encoded.cut_off,
        id=example.id,
    )
    pieces = np.concatenate([window.mark_pieces(tuple(spans))[window.owned] for window in encoded.windows])
    return Explained(explanation, encoded, pieces)


TWO = Example(
    "two",
    "a dull story .\n\nsuperb acting here",
    "POS",
    rationale=(Span(2, 6), Span(16, 29)),
    documents=(Document("first", 0, 14), Document("second", 16, 34)),
    shortcuts=(Span(7, 12),),
)


def test_an_example_without_documents_is_one_instance():
    example = tiny_corpus(1)[0]
    (instance,) = to_instances(explained(example, example.rationale))
    words = example.text.split()
    assert instance.n_words == instance.n_words_read == len(words)
    assert instance.gold_mask == instance.selected
    ((start, end),) = instance.gold
    span = example.rationale[0]
    assert words[start:end] == example.text[span.start : span.end].split()
    assert [word for word, marked in zip(words, instance.shortcut_words, strict=True) if marked] == (
        example.text[example.shortcuts[0].start : example.shortcuts[0].end].split()
    )
    assert (instance.gold_label, instance.label, instance.label_rationale) == (example.label,) * 3
    assert instance.label_full_text is None


def test_gold_goes_to_its_own_document():
    first, second = to_instances(explained(TWO, [Span(16, 22)]))
    assert (first.id, first.document, second.document) == ("two", "first", "second")
    assert (first.n_words, second.n_words) == (4, 3)
    assert first.gold == ((1, 2),)
    assert second.gold == ((0, 2),)
    assert first.selected == (False,) * 4
    assert second.selected == (True, False, False)
    assert first.shortcut_words == (False, False, True, False)
    assert second.shortcut_words == (False,) * 3


def test_pieces_go_to_their_own_document():
    item = explained(TWO, [Span(16, 22)])
    first, second = to_instances(item)
    pieces = tiny_tokenizer().tokenize(TWO.text)
    assert len(first.piece_gold) + len(second.piece_gold) == len(item.pieces) == len(pieces)
    n_first = len(tiny_tokenizer().tokenize("a dull story ."))
    n_dull = len(tiny_tokenizer().tokenize("dull"))
    assert len(first.piece_gold) == n_first
    assert sum(first.piece_gold) == n_dull
    assert sum(second.piece_gold) == len(tiny_tokenizer().tokenize("superb acting"))
    assert sum(first.piece_selected) == 0
    assert sum(second.piece_selected) == len(tiny_tokenizer().tokenize("superb"))


def test_no_piece_is_lost_where_white_space_has_pieces():
    tokenizer = byte_level()
    example = Example("ws", "\n a joy \r\n to watch \n\n", "POS", rationale=(Span(4, 7),))
    item = explained(example, example.rationale, tokenizer=tokenizer)
    (instance,) = to_instances(item)
    assert len(instance.piece_gold) == len(item.pieces)
    assert instance.piece_gold == instance.piece_selected


def test_a_word_partly_in_a_span_is_gold():
    example = Example("p", "superb acting", "POS", rationale=(Span(3, 8),))
    (instance,) = to_instances(explained(example, []))
    assert instance.gold == ((0, 2),)


def test_spans_without_a_word_are_left_out():
    example = Example("p", "superb   acting", "POS", rationale=(Span(7, 8), Span(4, 4)))
    (instance,) = to_instances(explained(example, []))
    assert instance.gold == ()
    unknown = replace(example, rationale=None)
    (instance,) = to_instances(explained(unknown, []))
    assert instance.gold is None
    assert instance.piece_gold is None


def test_what_was_cut_off_counts_as_unread_in_its_document():
    text = "a dull story . " * 6
    documents = (Document("one", 0, 45), Document("two", 45, len(text)))
    example = Example("c", text, "NEG", rationale=(Span(2, 6), Span(77, 81)), documents=documents)
    item = explained(example, [], max_tokens=20, truncate=True)
    one, two = to_instances(item)
    assert one.n_words == two.n_words == 12
    assert one.n_words_read == 12
    assert two.n_words_read == item.encoded.n_words_read - 12 < 12
    assert two.gold_words_lost == 1
    assert evaluate([item], split="test").gold_lost_to_truncation == pytest.approx(0.5)


def test_the_oracle_is_perfect():
    items = [explained(example, example.rationale) for example in [*tiny_corpus(20), TWO]]
    metrics = evaluate(items, split="test").metrics
    for name in (
        "token_f1_eraser",
        "token_f1_eraser_micro",
        "token_f1_micro_piece",
        "span_f1_exact",
        "auprc",
    ):
        assert metrics[name] == pytest.approx(1), name
    assert metrics["iou_f1_1to1@0.5"] == pytest.approx(1)
    assert metrics["task_f1_weighted"] == metrics["task_accuracy"] == 1
    assert metrics["selected_fraction"] == pytest.approx(metrics["gold_fraction"])
    assert metrics["shortcut_share"] == 0
    assert metrics["n_examples"] == 21
    assert metrics["n_instances"] == 22


def test_the_oracle_is_perfect_on_long_documents_too():
    text = " ".join(example.text for example in tiny_corpus(10))
    gold = (Span(3, 40), Span(len(text) - 30, len(text)))
    example = Example("long", text, "POS", rationale=gold)
    metrics = evaluate([explained(example, gold, max_tokens=24)], split="test").metrics
    assert metrics["token_f1_eraser"] == metrics["token_f1_micro_piece"] == pytest.approx(1)


def test_selecting_nothing_scores_nothing():
    result = evaluate([explained(example, []) for example in tiny_corpus(20)], split="test")
    metrics = result.metrics
    for name in (
        "token_f1_eraser",
        "token_r_eraser",
        "token_f1_micro_piece",
        "span_f1_exact",
        "selected_fraction",
    ):
        assert metrics[name] == 0, name
    assert result.health.selected_share == 0
    assert any("almost nothing" in each for each in result.health.warnings)
    assert result.trivial["random"].share_from == "gold"


def test_selecting_everything_has_full_recall():
    items = [explained(example, [Span(0, len(example.text))]) for example in tiny_corpus(20)]
    metrics = evaluate(items, split="test").metrics
    assert metrics["token_r_eraser"] == metrics["token_r_micro_piece"] == 1
    assert metrics["token_p_eraser_micro"] == pytest.approx(metrics["gold_fraction"])
    assert metrics["selected_fraction"] == 1


def test_always_the_wrong_label():
    other = dict(zip(LABELS, reversed(LABELS), strict=True))
    items = [explained(each, each.rationale, label=other[each.label]) for each in tiny_corpus(10)]
    result = evaluate(items, split="test")
    assert result.task_f1_weighted == 0
    assert result.confusion == {"NEG": {"NEG": 0, "POS": 5}, "POS": {"NEG": 5, "POS": 0}}


def test_unknown_labels_and_rationales_leave_their_numbers_out():
    example = Example("u", "a joy to watch")
    result = evaluate([explained(example, [Span(2, 5)])], split="wild")
    assert result.task_f1_weighted is None
    assert result.token_f1_eraser is None
    assert result.selected_fraction == 0.25
    assert result.confusion == {}
    assert quick_scores([explained(example, [])]) == {
        "selected_fraction": 0.0,
        "selected_fraction_read": 0.0,
        "n": 1.0,
    }


def test_the_result_can_be_made_again():
    items = list(tiny_model("semi_rat").engine().explain([*tiny_corpus(12), TWO]))
    result = evaluate(iter(items), split="test", seed=3)
    assert (result.split, result.method, result.faithful) == ("test", "semi_rat", True)
    assert result.labels == ("NEG", "POS")
    assert result.n_examples == 13
    assert set(result.trivial) == {"all", "random", "first", "last"}
    assert evaluate(items, split="test", seed=3) == result
    assert list(result.explained) == items


def test_of_nothing_there_is_a_result_too():
    result = evaluate([], split="none")
    assert result.n_examples == 0
    assert result.labels == ()
    assert result.method is None


def test_quick_scores_are_those_of_the_table():
    items = list(tiny_model("sup_rat").engine().explain(tiny_corpus(10)))
    metrics, quick = evaluate(items, split="dev").metrics, quick_scores(items)
    assert quick["task_f1"] == metrics["task_f1_weighted"]
    assert quick["task_f1_full_text"] == metrics["task_f1_weighted_full_text"]
    assert quick["task_f1_rationale"] == metrics["task_f1_weighted_rationale"]
    assert quick["token_f1"] == metrics["token_f1_eraser"]
    assert quick["selected_fraction"] == metrics["selected_fraction"]
