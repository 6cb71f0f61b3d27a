"""WSEE: the tagger knows the predicted class, and learns from annotated rows alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from contract import losses_of, turns_of, without_gold
from torch.autograd import grad
from torch.nn import functional as F

from helpers import LABELS, tiny_model, tiny_run
from rationalize.models.decoding import complete_words
from rationalize.training.phases import build_phases


def losses(method, batch):
    [(_, turn)] = turns_of(method)
    return losses_of(method, turn, batch)


def half_annotated(batch):
    blank = torch.zeros_like(batch.gold[:3])
    return replace(batch, gold=torch.cat([blank, batch.gold[3:]]), has_gold=torch.arange(len(batch)) >= 3)


def say(method, label):
    """Make the classifier answer one class whatever it reads."""
    with torch.no_grad():
        method.class_head[-1].weight.zero_()
        method.class_head[-1].bias.copy_(4.0 * F.one_hot(torch.tensor(label), method.n_classes))


@torch.no_grad()
def test_emissions_are_linear_in_block_features():
    method = tiny_model("wsee", labels=("A", "B", "C")).method
    hidden, classes = torch.randn(5, 4, 32), torch.tensor([0, 2, 1, 1, 2])
    blocks = torch.cat([hidden * (classes == label)[:, None, None] for label in range(3)], -1)
    torch.testing.assert_close(method.emissions(hidden, classes), method.emission_head(blocks))


def test_rows_without_gold_teach_the_classifier_alone(batch):
    method = tiny_model("wsee").method
    half = half_annotated(batch)
    parts = losses(method, half)
    torch.testing.assert_close(parts["select"], losses(method, half.rows(slice(3, 6)))["select"])
    torch.testing.assert_close(parts["task"], losses(method, batch)["task"])
    assert losses(method, without_gold(batch)).keys() == {"task"}


def test_select_is_the_chains_loss_per_document_piece(batch):
    """Row by row: -log P(gold tags), over the number of pieces."""
    method = tiny_model("wsee").method
    with torch.no_grad():
        method.crf.transitions.copy_(torch.tensor([[0.3, -0.2], [-1.0, 0.5]]))
    reading = method.read(batch)
    emissions = method.emissions(reading.hidden, method.class_head(reading.pooled).argmax(-1))
    total = 0.0
    for row, here in enumerate(batch.selectable):
        own, tags = emissions[row : row + 1, here], batch.gold[row : row + 1, here].long()
        total += method.crf.negative_log_likelihood(own, tags, torch.ones_like(tags, dtype=torch.bool)).sum()
    torch.testing.assert_close(losses(method, batch)["select"], total / batch.selectable.sum())


@pytest.mark.parametrize(("condition_on", "sees_the_answer"), [("predicted", True), ("gold", False)])
def test_the_tagger_is_told_the_predicted_class_or_the_true_one(batch, condition_on, sees_the_answer):
    method = tiny_model("wsee", condition_on=condition_on).method
    say(method, 0)
    first = losses(method, batch)["select"]
    say(method, 1)
    assert (losses(method, batch)["select"] != first) == sees_the_answer


def test_the_choice_of_a_class_passes_no_gradient(batch):
    method = tiny_model("wsee").method
    parts = losses(method, batch)
    to_classes = list(method.class_head.parameters())
    assert all(
        each is None for each in grad(parts["select"], to_classes, allow_unused=True, retain_graph=True)
    )
    weights = method.emission_head.weight
    assert grad(parts["task"], [weights], allow_unused=True, retain_graph=True) == (None,)
    assert grad(parts["select"], [weights])[0].any()


@torch.no_grad()
def test_the_mask_is_the_likeliest_sequence_given_the_predicted_class(batch):
    method = tiny_model("wsee", selection={"decoding": "argmax", "share": 0.5}).method
    method.emission_head.weight.mul_(10)
    method.crf.transitions.copy_(torch.tensor([[0.1, -0.1], [-0.1, 0.1]]))
    hidden = method.read(batch).hidden
    masks = []
    for label in range(len(LABELS)):
        say(method, label)
        output = method.explain(batch)
        emissions = method.emissions(hidden, torch.full((len(batch),), label))
        expected = method.crf.viterbi(emissions, batch.selectable).bool()
        assert torch.equal(output.mask, complete_words(expected, batch.words, batch.selectable))
        torch.testing.assert_close(output.scores, method.crf.marginals(emissions, batch.selectable)[..., 1])
        assert torch.equal(output.logits, output.full_text)
        masks.append(output.mask)
    assert not torch.equal(*masks)


def test_the_uniform_term_reaches_its_shuffled_phase(batch):
    config = tiny_run("wsee", shortcuts={"source": "known", "uniform_weight": 0.5})
    [phase] = build_phases(tiny_model("wsee").method, config)
    parts = phase.turns[0].loss(half_annotated(batch), torch.Generator())
    assert parts.keys() == {"task", "select", "uniform"}
