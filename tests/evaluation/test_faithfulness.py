"""Faithfulness of a model whose probabilities are known in closed form, and of a real one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from closed_form import engine, positive

from helpers import tiny_corpus, tiny_model
from rationalize.errors import ConfigError
from rationalize.evaluation._faithfulness import measure_faithfulness
from rationalize.evaluation.removal import join_kept
from rationalize.evaluation.scoring import evaluate
from rationalize.text.words import word_spans
from rationalize.types import Example


def measure(*examples, removal="drop", max_tokens=64, truncate=False, **arguments):
    model = engine(max_tokens)
    explained = list(model.explain(examples, truncate=truncate))
    model.method.seen.clear()
    return measure_faithfulness(model, explained, removal=removal, **arguments), model.method.seen


def test_comprehensiveness_and_sufficiency_worked_out_by_hand():
    """The rationale is `good`; without it the rest is heard, alone it is heard alone."""
    found, _ = measure(Example("a", "the good film bad plot"))
    full = positive("good", "film", "bad", "plot")
    assert found.row["comprehensiveness"] == pytest.approx(full - positive("film", "bad", "plot"))
    assert found.row["sufficiency"] == pytest.approx(full - positive("good"))


def test_the_label_followed_is_the_one_given_to_the_full_input_right_or_wrong():
    found, _ = measure(Example("a", "the dire good film", "POS"))
    assert found.own[0].predicted == "NEG"
    full, without, only = positive("dire", "good", "film"), positive("film"), positive("dire", "good")
    assert found.row["comprehensiveness"] == pytest.approx((1 - full) - (1 - without))
    assert found.row["sufficiency"] == pytest.approx((1 - full) - (1 - only))


def test_aopc_takes_the_best_words_rounds_up_and_breaks_ties_by_position():
    """Scores: bad 0.8, then film and plot 0.5 in the order of the text, then the. k = 1, 1, 1, 1, 2 of 4."""
    found, _ = measure(Example("a", "the plot bad film"))
    full = 1 - positive("plot", "bad", "film")
    one, rest_of_one = 1 - positive("bad"), 1 - positive("plot", "film")
    two, rest_of_two = 1 - positive("bad", "plot"), 1 - positive("film")
    row = found.row
    for share in ("0.01", "0.05", "0.1", "0.2"):
        assert row[f"comprehensiveness@{share}"] == pytest.approx(full - rest_of_one)
        assert row[f"sufficiency@{share}"] == pytest.approx(full - one)
    assert row["comprehensiveness@0.5"] == pytest.approx(full - rest_of_two)
    assert row["sufficiency@0.5"] == pytest.approx(full - two)
    assert row["comprehensiveness_aopc"] == pytest.approx(full - (4 * rest_of_one + rest_of_two) / 5)
    assert row["sufficiency_aopc"] == pytest.approx(full - (4 * one + two) / 5)


@pytest.mark.parametrize("removal", ["drop", "mask"])
def test_the_query_is_always_kept(removal):
    found, seen = measure(Example("a", "good film", query="bad dire"), removal=removal)
    assert seen
    assert all({"bad", "dire"} <= set(row) for row in seen)
    if removal == "drop":
        full = 1 - positive("bad", "dire", "good", "film")
        assert found.row["comprehensiveness"] == pytest.approx(full - (1 - positive("bad", "dire", "film")))
        assert found.row["sufficiency"] == pytest.approx(full - (1 - positive("bad", "dire", "good")))


def test_masked_words_leave_their_mask_behind():
    found, seen = measure(Example("a", "the good film"), removal="mask")
    full, mask = positive("good", "film"), "[MASK]"
    assert found.row["comprehensiveness"] == pytest.approx(full - positive(mask, "film"))
    assert found.row["sufficiency"] == pytest.approx(full - positive(mask, "good", mask))
    assert all(len(row) == 5 for row in seen), "positions and length must stay"


def test_with_everything_dropped_the_model_reads_an_empty_text():
    found, seen = measure(Example("a", "good"), Example("b", "good", query="film"))
    assert ["[CLS]", "[SEP]"] in seen
    assert ["[CLS]", "film", "[SEP]"] in seen
    alone, asked = found.own
    assert alone.without["POS"] == pytest.approx(positive())
    assert asked.without["POS"] == pytest.approx(positive("film"))
    assert alone.only == alone.full


def test_an_empty_rationale_removes_nothing_and_keeps_nothing():
    found, _ = measure(Example("a", "bad film"))
    assert found.row["comprehensiveness"] == 0
    assert found.row["sufficiency"] == pytest.approx((1 - positive("bad", "film")) - (1 - positive()))


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_text_without_words_cannot_be_reduced(text):
    found, seen = measure(Example("a", text))
    assert seen == []
    assert found.row["comprehensiveness"] == found.row["sufficiency_aopc"] == 0


@pytest.mark.parametrize("removal", ["drop", "mask"])
def test_equal_inputs_are_read_once(removal):
    example = Example("a", "good film bad plot the")
    found, seen = measure(example, replace(example, id="b"), removal=removal)
    assert len(seen) == found.n_read
    assert len({tuple(row) for row in seen}) == len(seen)


def test_another_query_makes_another_input():
    found, seen = measure(Example("a", "good film", query="bad"), Example("b", "good film", query="dire"))
    assert found.own[0].without != found.own[1].without
    assert len(seen) == found.n_read


def test_long_documents_are_reduced_as_a_whole():
    """The reduced text is read in windows of its own, as if it had been given as it is."""
    text = " ".join(["the good film bad"] * 10)
    found, seen = measure(Example("a", text), max_tokens=12)
    (alone,) = engine(12).explain([Example("a", " ".join(["the film bad"] * 10))])
    assert len(alone.encoded.windows) > 1
    assert found.own[0].without == pytest.approx(alone.explanation.probabilities)
    assert max(map(len, seen)) <= 12


def test_masking_hides_a_word_from_every_window():
    _, seen = measure(
        Example("a", " ".join(["the good film bad"] * 10)), removal="mask", max_tokens=12, bins=()
    )
    rationale = [row for row in seen if "good" in row and "film" not in row and "bad" not in row]
    rest = [row for row in seen if "good" not in row and "film" in row]
    assert len(rationale) > 1
    assert len(rest) > 1


def test_what_was_cut_off_does_not_come_in_through_the_back_door():
    text = "good film bad plot " + "dire " * 20
    found, seen = measure(Example("a", text), max_tokens=6, truncate=True)
    assert not any("dire" in row for row in seen)
    full = positive("good", "film", "bad", "plot")
    assert found.row["comprehensiveness"] == pytest.approx(full - positive("film", "bad", "plot"))


def test_the_random_selector_takes_as_many_words_of_each_text():
    texts = ["good film bad plot the", "bad plot", "good good the the the"]
    examples = [Example(str(i), text) for i, text in enumerate(texts)]
    model = engine()
    explained = list(model.explain(examples))
    found = measure_faithfulness(model, explained, bins=())
    assert found.random[1].without == found.random[1].full, "where nothing is selected, nothing is removed"
    singles = {word: positive(word) for word in texts[0].split()}
    assert any(found.random[0].only["POS"] == pytest.approx(value) for value in singles.values())
    assert measure_faithfulness(model, explained, bins=()) == found
    backwards = measure_faithfulness(model, explained[::-1], bins=())
    assert [each.only for each in backwards.random[::-1]] == [
        pytest.approx(each.only) for each in found.random
    ]
    assert found.random_row["comprehensiveness"] != found.row["comprehensiveness"]


def test_many_parts_make_one_result(monkeypatch):
    examples = [Example(str(i), "the good film bad plot " * (1 + i % 3)) for i in range(7)]
    whole, _ = measure(*examples)
    monkeypatch.setattr("rationalize.evaluation._faithfulness.WORDS_AT_ONCE", 10)
    parts, _ = measure(*examples)
    assert parts.row == pytest.approx(whole.row)
    assert parts.n_read == whole.n_read


def test_an_unknown_removal_is_refused():
    with pytest.raises(ConfigError, match="expected drop or mask"):
        measure(Example("a", "good"), removal="burn")
    with pytest.raises(ConfigError, match="share: saw 2"):
        measure(Example("a", "good"), bins=(2,))


def keep(text, dropped):
    words = word_spans(text)
    return join_kept(text, words, tuple(index not in dropped for index in range(len(words))))


def test_kept_words_keep_their_white_space_and_their_lines():
    assert keep("a dull  story .", {1}) == "a  story ."
    assert keep("one two .\nthree four .", {2, 3}) == "one two\nfour ."
    assert keep("one two .\nthree four .", {0, 5}) == "two .\nthree four"
    assert keep("  a b ", set()) == "a b"
    assert keep("a b", {0, 1}) == ""
    assert keep("这部电影非常好看", {0, 3}) == "部电非常好看"


def test_words_that_touched_punctuation_are_joined_without_becoming_one():
    assert keep("slow,dull film!", {1}) == "slow dull film!"
    assert keep("a good, bad end.", {2}) == "a good bad end."
    assert keep("(so) good", {0, 2}) == "so good"
    assert keep("(so) good", {1}) == "() good"


@pytest.mark.parametrize("removal", ["drop", "mask"])
@pytest.mark.parametrize("method", ["un_rat", "full_text"])
def test_a_real_model_end_to_end(method, removal):
    model = tiny_model(method).engine()
    explained = list(model.explain(tiny_corpus(4)))
    measured = measure_faithfulness(model, explained, removal=removal, seed=3)
    result = evaluate(explained, split="test", faithfulness=measured)
    assert result.faithfulness.to_dict() == {
        "removal": removal,
        "bins": [0.01, 0.05, 0.1, 0.2, 0.5],
        "n_examples": 4,
        "n_inputs_read": measured.n_read,
    }
    assert result.comprehensiveness == measured.row["comprehensiveness"]
    assert result.trivial["random"].sufficiency_aopc == measured.random_row["sufficiency_aopc"]
    if removal == "drop":
        item = explained[0]
        kept = [
            item.explanation.text[word.start : word.end]
            for word, selected in zip(item.explanation.words, item.explanation.selected, strict=True)
            if selected
        ]
        (alone,) = model.explain([Example("x", " ".join(kept))])
        assert measured.own[0].only == pytest.approx(alone.explanation.probabilities, abs=1e-5)


def test_without_it_the_result_is_as_it_was():
    result = evaluate(tiny_model("un_rat").engine().explain(tiny_corpus(2)), split="test")
    assert result.faithfulness is None
    assert "comprehensiveness" not in result.metrics
