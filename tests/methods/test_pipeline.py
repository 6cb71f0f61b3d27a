"""Pipeline: two models that never meet, fair negatives, and one sentence as rationale."""

from __future__ import annotations

import pytest
import torch
from contract import train_rows, without_gold
from games import reaches, turn_losses

from helpers import tiny_batch, tiny_corpus, tiny_model, tiny_rows, tiny_tokenizer
from rationalize.config import TrainingConfig
from rationalize.methods.pipeline.pipeline import add_negatives
from rationalize.models.units import find_units
from rationalize.text.batch import InputRow, collate
from rationalize.text.sentences import find_sentences
from rationalize.text.windows import TextEncoder
from rationalize.types import Example

TEXTS = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
EVIDENCE = torch.tensor([1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0], dtype=torch.bool)


@pytest.fixture
def method():
    return tiny_model("pipeline").method


def drawn(seed):
    return add_negatives(EVIDENCE, TEXTS, torch.Generator().manual_seed(seed))


def test_each_text_gives_as_many_others_as_evidence():
    """Two of three others; the only other where two are wanted; none where nothing is evidence."""
    for seed in range(20):
        chosen = drawn(seed)
        assert chosen[EVIDENCE].all()
        others = chosen & ~EVIDENCE
        assert [int(others[text == TEXTS].sum()) for text in range(3)] == [2, 1, 0]


def test_others_are_drawn_anew_and_all_get_their_turn():
    draws = torch.stack([drawn(seed) for seed in range(30)])
    assert len({tuple(draw.tolist()) for draw in draws}) > 1
    assert torch.equal(draws.any(0), EVIDENCE | (TEXTS < 2))
    assert torch.equal(drawn(4), drawn(4))


def test_an_epoch_shows_other_negatives(method, tmp_path, monkeypatch):
    """In real training the draw is keyed by the step, so it differs between epochs."""
    seen = []
    original = method.identifier.read
    monkeypatch.setattr(method.identifier, "read", lambda batch: seen.append(batch) or original(batch))
    train_rows(method, {"all": tiny_rows(tiny_corpus(1))}, TrainingConfig(epochs=8), tmp_path)
    assert len(seen) == 8
    assert all(int(batch.has_gold.sum()) == 1 and len(batch) == 2 for batch in seen)
    assert len({tuple(batch.input_ids[~batch.has_gold][0].tolist()) for batch in seen}) > 1


def test_the_two_models_share_nothing(method, batch):
    players = method.players()
    for turn, own, other in (
        ("identify", "identifier", "classifier"),
        ("classify", "classifier", "identifier"),
    ):
        [loss] = turn_losses(method, turn, batch).values()
        assert reaches(loss, players[own])
        assert not reaches(loss, players[other])


def test_the_classifier_learns_from_gold_sentences_alone(method, batch):
    sentences = [
        Example(f"s{row}-{number}", example.text[span.start : span.end], example.label)
        for row, example in enumerate(tiny_corpus(6))
        for number, span in enumerate(find_sentences(example.text))
        if any(span.start <= gold.start < span.end for gold in example.rationale)
    ]
    expected = torch.nn.functional.cross_entropy(
        method.classifier.read(tiny_batch(sentences)), tiny_batch(sentences).labels
    )
    torch.testing.assert_close(turn_losses(method, "classify", batch)["task"], expected)


@pytest.mark.parametrize("turn", ["identify", "classify"])
def test_without_gold_nothing_is_learned(method, batch, turn):
    [loss] = turn_losses(method, turn, without_gold(batch)).values()
    assert loss == 0
    assert not reaches(loss, method.parameters())


@pytest.mark.parametrize("query", [None, "is it any good ?"])
@torch.no_grad()
def test_the_best_sentence_is_shown_and_read(method, query):
    """Against each sentence tokenized on its own, one at a time."""
    examples = [Example(each.id, each.text, query=query) for each in tiny_corpus(4)]
    batch = tiny_batch(examples)
    output = method.explain(batch)
    text = TextEncoder(tiny_tokenizer(), 64)

    def alone(model, sentence):
        window = text.encode(Example("s", sentence, query=query), truncate=True).windows[0]
        return model.read(collate([InputRow("s", window)], 0))

    for row, example in enumerate(examples):
        sentences = [example.text[span.start : span.end] for span in find_sentences(example.text)]
        chances = [float(alone(method.identifier, each).softmax(-1)[0, 1]) for each in sentences]
        best = max(range(len(chances)), key=chances.__getitem__)
        own = batch.selectable[row]
        assert torch.equal(output.mask[row, own], batch.sentences[row, own] == best)
        expected = torch.tensor([chances[number] for number in batch.sentences[row, own].tolist()])
        torch.testing.assert_close(output.scores[row, own], expected)
        torch.testing.assert_close(output.logits[row], alone(method.classifier, sentences[best])[0])


@torch.no_grad()
def test_a_text_without_words_selects_nothing(method):
    batch = tiny_batch([Example("e", ""), *tiny_corpus(2)])
    output = method.explain(batch)
    assert not output.mask[0].any()
    assert output.mask[1:].any(-1).all()
    assert find_units(batch.sentences, batch.selectable).find_touched(output.mask).sum(-1).tolist() == [
        0,
        1,
        1,
    ]
