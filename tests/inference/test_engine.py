"""The engine: what every explanation promises, for short texts, long documents and streams of both."""

from __future__ import annotations

import json
import time
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LABELS, tiny_batch, tiny_corpus, tiny_model, tiny_tokenizer
from rationalize.errors import ConfigError, DataError
from rationalize.inference.engine import Engine
from rationalize.methods.base import Output
from rationalize.seeding import python_random
from rationalize.text.windows import TextEncoder
from rationalize.text.words import mask_spans, word_spans
from rationalize.types import Example, Span
from searches import search
from small_tokenizers import FAMILIES

LONG = " ".join(example.text for example in tiny_corpus(12))
MODELS = {name: tiny_model(name) for name in ("un_rat", "sup_rat", "semi_rat")}


def explain(examples, method="un_rat", **arguments):
    return list(MODELS[method].engine().explain(examples, **arguments))


def mixed_corpus():
    """Short, long, empty and odd texts in no order."""
    texts = ["", LONG, "a joy", " \n ", "🎉 superb acting 東京", LONG[:400], "x" * 300, "a joy to watch"]
    return [
        Example(f"m{i}", text, query="is it good ?" if i % 3 == 0 else None) for i, text in enumerate(texts)
    ]


def check_promises(explained, example):
    explanation = explained.explanation
    assert explanation.text == example.text
    assert explanation.id == example.id
    assert explanation.query == example.query
    assert list(explanation.words) == word_spans(example.text)
    assert len(explanation.scores) == len(explanation.selected) == len(explanation.words)
    assert all(0 <= score <= 1 for score in explanation.scores)
    assert explanation.spans == mask_spans(explanation.words, explanation.selected)
    for name in ("probabilities", "from_full_text", "from_rationale"):
        values = getattr(explanation, name)
        assert list(values) == list(LABELS)
        assert sum(values.values()) == pytest.approx(1)
        assert all(0 <= value <= 1 for value in values.values())
    assert explanation.label == max(explanation.probabilities, key=explanation.probabilities.__getitem__)
    decided_on = explanation.from_rationale if explanation.faithful else explanation.from_full_text
    assert explanation.probabilities == pytest.approx(decided_on)
    assert len(explained.pieces) == sum(window.owned.sum() for window in explained.encoded.windows)
    json.dumps(explanation.to_dict(), allow_nan=False)


@pytest.mark.parametrize("method", MODELS)
@pytest.mark.parametrize("truncate", [True, False])
def test_every_explanation_keeps_its_promises(method, truncate):
    examples = mixed_corpus()
    found = explain(examples, method, truncate=truncate)
    assert len(found) == len(examples)
    for each, example in zip(found, examples, strict=True):
        check_promises(each, example)


@search(40)
@given(texts=st.lists(st.text(max_size=200), max_size=5))
def test_any_text_can_be_explained(texts):
    examples = [Example(str(i), text) for i, text in enumerate(texts)]
    for each, example in zip(explain(examples), examples, strict=True):
        check_promises(each, example)


def test_an_empty_text_has_a_label_and_no_rationale():
    (found,) = explain([Example("e", "")])
    assert found.explanation.spans == found.explanation.words == ()
    assert found.explanation.label in LABELS
    assert found.pieces.size == 0


def test_batches_do_not_change_the_result():
    examples = mixed_corpus() + tiny_corpus(10)
    alone = MODELS["un_rat"].engine(batch_tokens=1).explain(examples)
    for one, many in zip(alone, explain(examples), strict=True):
        assert one.explanation.selected == many.explanation.selected
        assert (one.pieces == many.pieces).all()
        assert one.explanation.probabilities == pytest.approx(many.explanation.probabilities, abs=1e-5)
        assert one.explanation.scores == pytest.approx(many.explanation.scores, abs=1e-5)


def test_what_else_is_asked_does_not_change_an_answer():
    examples = mixed_corpus()
    crowd = explain([*tiny_corpus(40), *examples, *tiny_corpus(40)])[40:-40]
    for example, found in zip(examples, crowd, strict=True):
        (alone,) = explain([example])
        assert alone.explanation.label == found.explanation.label
        assert alone.explanation.selected == found.explanation.selected
        assert alone.explanation.probabilities == pytest.approx(found.explanation.probabilities, abs=1e-5)


def test_batches_keep_to_their_tokens_and_hardly_pad(monkeypatch):
    seen = []

    def spy(batch):
        seen.append(batch.attention)
        return explain_batch(batch)

    model = tiny_model("un_rat")
    explain_batch = model.method.explain
    monkeypatch.setattr(model.method, "explain", spy)
    rng = python_random(0, "lengths")
    texts = [" ".join(["joy"] * rng.randint(1, 55)) for _ in range(600)]
    examples = [Example(str(index), text) for index, text in enumerate(texts)]
    for tokens in (200, None):
        seen.clear()
        found = list(model.engine(batch_tokens=tokens).explain(iter(examples)))
        assert [each.explanation.id for each in found] == [example.id for example in examples]
        assert all(batch.numel() <= (tokens or 2048) for batch in seen)
        read = sum(int(batch.sum()) for batch in seen)
        assert read >= 0.95 * sum(batch.numel() for batch in seen)
        assert len(seen) <= 1.5 * read / (tokens or 2048) + 30  # and yet batches are full


def test_long_texts_are_taken_in_smaller_chunks():
    taken = []

    def stream():
        for number in range(10):
            taken.append(number)
            yield Example(str(number), "a joy" + " " * 240_000)

    next(MODELS["un_rat"].engine().explain(stream(), truncate=True))
    assert len(taken) == 3  # more than half a million characters


def test_chunks_do_not_change_the_result():
    examples = mixed_corpus()
    for one, many in zip(explain(examples, chunk=3), explain(examples, chunk=100), strict=True):
        assert one.explanation.selected == many.explanation.selected
        assert one.explanation.probabilities == pytest.approx(many.explanation.probabilities, abs=1e-5)


def test_a_stream_is_read_a_chunk_at_a_time():
    taken = []

    def endless():
        number = 0
        while True:
            taken.append(number)
            yield Example(str(number), "a joy to watch")
            number += 1

    stream = MODELS["un_rat"].engine().explain(endless(), chunk=4)
    assert [each.explanation.id for each in islice(stream, 6)] == ["0", "1", "2", "3", "4", "5"]
    assert len(taken) == 8


def test_nothing_in_gives_nothing_out():
    assert explain([]) == []
    assert MODELS["un_rat"].engine().explain_encoded([]) == []


def test_a_text_that_fits_needs_no_truncation():
    for example in tiny_corpus(8):
        (whole,), (cut,) = explain([example]), explain([example], truncate=True)
        assert len(whole.encoded.windows) == 1
        assert whole.explanation == cut.explanation
        assert cut.explanation.cut_off is None


def test_every_word_of_a_long_document_is_scored():
    (found,) = explain([Example("l", LONG)])
    assert len(found.encoded.windows) > 3
    assert all(score > 0 for score in found.explanation.scores)
    assert found.explanation.cut_off is None
    last = found.encoded.windows[-1]
    assert last.ends.max() == len(LONG.rstrip())


def test_truncation_says_what_was_not_read():
    (found,) = explain([Example("l", LONG)], truncate=True)
    cut_off = found.explanation.cut_off
    n_read = found.encoded.n_words_read
    assert cut_off == Span(int(found.encoded.windows[0].ends.max()), len(LONG))
    assert 0 < n_read < len(found.explanation.words)
    assert all(score > 0 for score in found.explanation.scores[:n_read])
    assert set(found.explanation.scores[n_read:]) == {0.0}
    assert not any(found.explanation.selected[n_read:])


class Reciter(torch.nn.Module):
    """Stands in for a method: selects and scores by the piece's id, and decides by row."""

    faithful = True
    about = MODELS["un_rat"].method.about

    def __init__(self, selects, decide=lambda batch: torch.zeros(len(batch), 2)):
        super().__init__()
        self.anchor = torch.nn.Parameter(torch.zeros(1))
        self.selects, self.decide, self.seen = selects, decide, []

    def explain(self, batch):
        mask = self.selects(batch) & batch.selectable
        self.seen += [set(row[own].tolist()) for row, own in zip(batch.words, mask, strict=True)]
        logits = self.decide(batch)
        return Output(mask, batch.input_ids / 10_000 * batch.selectable, logits, logits, logits)


def recite(text, selects, decide=None, *, family=None, max_tokens=24):
    tokenizer = FAMILIES[family]() if family else tiny_tokenizer()
    method = Reciter(selects, decide) if decide else Reciter(selects)
    engine = Engine(method, TextEncoder(tokenizer, max_tokens), LABELS)
    (found,) = engine.explain([Example("x", text)])
    return found, method


def test_words_get_the_best_of_their_pieces():
    text = "an unbearableness of being"
    found, _ = recite(text, lambda batch: batch.input_ids == batch.input_ids.amax(), family="wordpiece")
    (window,) = found.encoded.windows
    for index, (score, selected) in enumerate(
        zip(found.explanation.scores, found.explanation.selected, strict=True)
    ):
        ids = window.input_ids[window.words == index]
        assert score == pytest.approx(ids.max() / 10_000)
        assert selected == (window.input_ids.max() in ids)


def test_words_inside_one_piece_are_selected_together():
    text = "東京都に住んでいます"
    found, _ = recite(text, lambda batch: batch.input_ids == batch.input_ids, family="unigram")
    assert all(found.explanation.selected)
    assert found.explanation.rationale == (text,)
    tokenizer = FAMILIES["unigram"]()
    tokyo = tokenizer.convert_tokens_to_ids("▁東京都")
    found, _ = recite(text, lambda batch: batch.input_ids == tokyo, family="unigram")
    assert found.explanation.rationale == ("東京都",)


def test_what_any_window_read_is_shown():
    """Two windows may disagree on their overlap; the label depends on both, so both must be seen."""

    def late_in_the_window(batch):
        return torch.arange(batch.input_ids.shape[1]) >= batch.attention.sum(-1, keepdim=True) - 4

    found, method = recite(LONG, late_in_the_window)
    read = set().union(*method.seen)
    shown = {index for index, selected in enumerate(found.explanation.selected) if selected}
    assert read == shown
    words = np.concatenate([window.words[window.owned] for window in found.encoded.windows])
    assert set(words[found.pieces].tolist()) == shown


def test_pieces_are_in_the_order_of_the_text():
    wanted = tiny_tokenizer().convert_tokens_to_ids("the")
    found, _ = recite(LONG, lambda batch: batch.input_ids == wanted)
    whole = tiny_tokenizer()(LONG, add_special_tokens=False)["input_ids"]
    assert found.pieces.tolist() == [each == wanted for each in whole]


def test_windows_speak_by_the_share_of_the_rationale_that_they_hold():
    """Only windows that select something are heard; each by how many of its own pieces it selects."""
    chore = tiny_tokenizer().convert_tokens_to_ids("superb")

    def by_window(batch):
        sure = (batch.input_ids == chore).any(-1)
        return torch.where(sure[:, None], torch.tensor([0.0, 30.0]), torch.tensor([30.0, 0.0]))

    text = "the film runs two hours , " * 8 + "superb acting throughout"
    found, _ = recite(text, lambda batch: batch.input_ids == chore, by_window)
    assert len(found.encoded.windows) > 2
    assert found.explanation.label == "POS"
    assert found.explanation.from_rationale["POS"] == pytest.approx(1)
    assert found.explanation.from_full_text["POS"] < 0.5
    empty, _ = recite(text, lambda batch: torch.zeros_like(batch.selectable), by_window)
    assert empty.explanation.spans == ()
    assert empty.explanation.from_rationale == pytest.approx(empty.explanation.from_full_text)


def test_engine_leaves_dropout_off_and_asks_for_no_gradient():
    model = tiny_model("un_rat", encoder={"dropout": 0.5})
    model.method.train()
    examples = tiny_corpus(4)
    first, second = (list(model.engine().explain(examples)) for _ in range(2))
    assert [each.explanation for each in first] == [each.explanation for each in second]
    assert all(parameter.grad is None for parameter in model.method.parameters())


def test_finding_a_label_costs_no_attribution(monkeypatch):
    model = tiny_model("full_text", attribution="leave_one_out")
    monkeypatch.setattr(model.method, "attribute", lambda batch: pytest.fail("words were looked for"))
    engine = model.engine()
    assert engine.probabilities([engine.text.encode(Example("a", "a joy"), truncate=False)])


def test_an_oracle_is_given_the_label_of_every_example():
    model = tiny_model("car")
    examples = tiny_corpus(6)
    fair = list(model.engine().explain(examples))
    unfair = list(model.engine(oracle_label=True).explain(examples))
    assert [each.explanation.probabilities for each in unfair] == [
        pytest.approx(each.explanation.probabilities) for each in fair
    ]
    batch = tiny_batch(examples)
    with torch.no_grad():
        masks = model.method.explain_oracle(batch).mask
    for each, mask, words in zip(unfair, masks, batch.words, strict=True):
        expected = {int(word) for word in words[mask]}
        assert {i for i, selected in enumerate(each.explanation.selected) if selected} == expected
        assert (each.explanation.method, each.explanation.oracle_label) == ("car", True)
    assert not any(each.explanation.oracle_label for each in fair)
    with pytest.raises(DataError, match="with oracle labels every example needs one of NEG, POS"):
        list(model.engine(oracle_label=True).explain([Example("u", "a joy")]))


def test_a_batch_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="batch_tokens: got 0, expected 1 or more"):
        MODELS["un_rat"].engine(batch_tokens=0)


@pytest.mark.slow
def test_ten_times_the_words_are_ten_times_the_pieces_read(monkeypatch):
    """Prints seconds, which depend on the machine; what is read does not."""
    model = tiny_model("un_rat")
    explain_batch, read = model.method.explain, []
    monkeypatch.setattr(
        model.method, "explain", lambda batch: read.append(batch.input_ids.numel()) or explain_batch(batch)
    )
    words, counts = LONG.split(), {}
    for n in (1_000, 10_000, 100_000):
        read.clear()
        text = " ".join((words * (n // len(words) + 1))[:n])
        start = time.process_time()
        (found,) = model.engine().explain([Example("long", text)])
        print(f"{n} words: {time.process_time() - start:.2f} s, {sum(read)} pieces in {len(read)} batches")
        assert len(found.explanation.words) >= n
        counts[n] = sum(read)
    assert 9.8 < counts[100_000] / counts[10_000] < 10.2
