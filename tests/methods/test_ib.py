"""IB, without and with gold: sentences are taken whole and in exact number; gates, prior and gold in place."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from contract import losses_of, scramble, turns_of, without_gold
from torch.autograd import grad

from helpers import tiny_batch, tiny_corpus, tiny_model
from rationalize.models.units import find_units
from rationalize.types import Example


def sentences(n=6):
    """The tiny corpus with its stretches as sentences; offsets stay."""
    return [replace(example, text=example.text.replace(" , ", " . ")) for example in tiny_corpus(n)]


@pytest.fixture
def batch():
    return tiny_batch([*sentences(5), Example("short", "dull . dull", "NEG")])


def play(method, batch, name="play"):
    [turn] = [turn for _, turn in turns_of(method) if turn.name == name]
    return losses_of(method, turn, batch)


def units(batch, numbers="sentences"):
    return find_units(getattr(batch, numbers), batch.selectable)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.26, 0.5, 0.9])
@pytest.mark.parametrize(("unit", "numbers"), [("sentence", "sentences"), ("token", "words")])
@torch.no_grad()
def test_exactly_the_wanted_number_of_units_is_shown_whole(batch, share, unit, numbers):
    method = tiny_model("ib", selection={"unit": unit, "share": share}).method
    output = method.explain(batch)
    own = units(batch, numbers)
    taken = own.find_touched(output.mask)
    assert torch.equal(own.spread(taken), output.mask), "part of a unit"
    counts = own.present.sum(-1)
    assert taken.sum(-1).tolist() == [math.ceil(share * count - 1e-9) for count in counts.tolist()]
    assert counts[0] > counts[-1] > 1


@torch.no_grad()
def test_the_best_sentences_are_shown_and_hidden_ones_change_nothing(batch):
    method = tiny_model("ib", selection={"share": 0.4}).method
    output = method.explain(batch)
    for row in range(len(batch)):
        own = batch.selectable[row]
        shown, hidden = output.mask[row] & own, ~output.mask[row] & own
        assert output.scores[row][shown].min() > output.scores[row][hidden].max()
    scrambled = scramble(batch, output.mask)
    assert not torch.equal(scrambled.input_ids, batch.input_ids)
    assert torch.equal(method.label_from_mask(scrambled, output.mask), output.logits)


@pytest.mark.parametrize("masking", ["attention", "mix"])
def test_the_label_teaches_the_gates(batch, masking):
    method = tiny_model("ib", selection={"masking": masking, "shared_encoder": False}).method
    parts = play(method, batch)
    selector = [method.unit_head[-1].weight, *method.net.selector_encoder.parameters()]
    reached = grad(parts["task"], selector, allow_unused=True, retain_graph=True)
    assert reached[0].any()
    assert any(each is not None and each.any() for each in reached[1:])
    predictor = [*method.net.class_head.parameters(), *method.net.encoder.parameters()]
    assert not any(each is not None for each in grad(parts["bottleneck"], predictor, allow_unused=True))


@torch.no_grad()
def test_open_gates_read_the_full_text_and_shut_ones_nothing(batch):
    """The soft gate at its ends is the hard mask: a train-test gap can only lie in between."""
    method = tiny_model("ib").method
    own = units(batch)
    for level, mask in ((1.0, batch.selectable), (0.0, torch.zeros_like(batch.selectable))):
        gates = own.spread(torch.full(own.present.shape, level))
        torch.testing.assert_close(method.net.predict(batch, gates), method.label_from_mask(batch, mask))
    faint = method.net.predict(batch, own.spread(torch.full(own.present.shape, 1e-4)))
    shut = method.label_from_mask(batch, torch.zeros_like(batch.selectable))
    torch.testing.assert_close(faint, shut, atol=1e-2, rtol=0)


def test_probabilities_may_exceed_one_half(batch):
    """The released code passes log-probabilities as logits, which keeps every gate below ½."""
    method = tiny_model("ib").method
    with torch.no_grad():
        method.unit_head[-1].bias.fill_(4.0)
    assert method.explain(batch).scores[batch.selectable].min() > 0.9


def test_at_the_prior_the_bottleneck_costs_nothing(batch):
    method = tiny_model("ib", selection={"share": 0.3}).method
    with torch.no_grad():
        method.unit_head[-1].weight.zero_()
        method.unit_head[-1].bias.fill_(math.log(0.3 / 0.7))
    assert play(method, batch)["bottleneck"].item() == pytest.approx(0, abs=1e-6)
    with torch.no_grad():
        method.unit_head[-1].bias.fill_(0.0)
    by_hand = 0.5 * math.log(0.5 / 0.3) + 0.5 * math.log(0.5 / 0.7)
    assert play(method, batch)["bottleneck"].item() == pytest.approx(by_hand, rel=1e-5)


def test_gold_sentences_are_those_that_gold_touches(batch):
    """One gold piece makes its sentence gold; the loss is the plain binary cross-entropy of all sentences."""
    method = tiny_model("ib_semi").method
    one = torch.zeros_like(batch.gold)
    one[torch.arange(5), batch.gold[:5].long().argmax(-1)] = True
    sparse = replace(batch, gold=one)
    parts = play(method, sparse, "learn")
    assert parts.keys() == {"task", "select"}, "the prior is dropped where gold is known"
    torch.testing.assert_close(parts["select"], play(method, batch, "learn")["select"])
    own, logits = method.judge_units(batch, method.net.select(batch))
    where = own.present & batch.has_gold[:, None]
    wanted = own.find_touched(batch.gold)
    assert wanted.sum(-1).tolist() == [1, 1, 1, 1, 1, 0]
    by_hand = torch.nn.functional.binary_cross_entropy_with_logits(logits[where], wanted[where].float())
    torch.testing.assert_close(parts["select"], by_hand)


def test_without_gold_in_the_window_nothing_is_marked_as_not_gold(batch):
    assert play(tiny_model("ib_semi").method, without_gold(batch), "learn").keys() == {"task"}


def test_gold_and_prior_each_have_their_pool():
    phases = {phase.name: phase for phase in tiny_model("ib_semi").method.phases()}
    assert {name: phase.pool for name, phase in phases.items()} == {
        "supervised": "gold",
        "unsupervised": "rest",
    }


@torch.no_grad()
def test_a_text_reads_the_same_beside_texts_of_more_sentences(batch):
    method = tiny_model("ib").method
    together = method.explain(batch)
    alone = method.explain(tiny_batch([Example("short", "dull . dull", "NEG")]))
    width = alone.mask.shape[1]
    assert torch.equal(alone.mask[0], together.mask[-1, :width])
    torch.testing.assert_close(alone.logits[0], together.logits[-1])
