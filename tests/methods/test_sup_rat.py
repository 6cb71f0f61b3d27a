"""Sup-RAT: two tasks that meet only in the encoder, and gold that is missing teaches nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from contract import counted_passes, losses_of, turns_of, without_gold
from torch.autograd import grad

from helpers import tiny_model


def losses(method, batch):
    [(_, turn)] = turns_of(method)
    return losses_of(method, turn, batch)


def test_each_head_learns_from_its_own_task(batch):
    method = tiny_model("sup_rat").method
    parts, net = losses(method, batch), method.net
    heads = {"task": net.class_head.weight, "select": net.select_head.weight}
    for part, head in heads.items():
        [other] = [each for each in heads.values() if each is not head]
        own, foreign = grad(parts[part], [head, other], allow_unused=True, retain_graph=True)
        assert own.any()
        assert foreign is None
        encoder = grad(parts[part], list(net.encoder.parameters()), allow_unused=True, retain_graph=True)
        assert any(gradient is not None and gradient.any() for gradient in encoder)


@pytest.mark.parametrize(("shared", "passes"), [(True, 1), (False, 2)])
def test_a_shared_encoder_reads_the_text_once_for_both_tasks(batch, shared, passes):
    method = tiny_model("sup_rat", selection={"shared_encoder": shared}).method
    with counted_passes(method) as counted:
        losses(method, batch)
    assert len(counted) == passes


def test_rows_without_gold_are_left_out_of_select(batch):
    method = tiny_model("sup_rat").method
    blank = torch.zeros_like(batch.gold[:3])
    half = replace(
        batch, gold=torch.cat([blank, batch.gold[3:]]), has_gold=torch.tensor([False] * 3 + [True] * 3)
    )
    with_gold = losses(method, half.rows(slice(3, 6)))["select"]
    torch.testing.assert_close(losses(method, half)["select"], with_gold)
    assert losses(method, without_gold(batch)).keys() == {"task"}


def test_select_means_over_document_pieces_only(batch):
    """Changing what the selector says of padding, specials and queries changes nothing."""
    method = tiny_model("sup_rat").method
    logits, _ = method.net.read(batch)
    rows = batch.selectable
    by_hand = -logits.log_softmax(-1)[rows].gather(1, batch.gold[rows].long()[:, None]).mean()
    torch.testing.assert_close(losses(method, batch)["select"], by_hand)


def test_a_positive_weight_makes_gold_count_more(batch):
    plain = losses(tiny_model("sup_rat").method, batch)["select"]
    unit = losses(tiny_model("sup_rat", supervision={"positive_weight": 1.0}).method, batch)["select"]
    balanced = losses(tiny_model("sup_rat", supervision={"positive_weight": "balanced"}).method, batch)[
        "select"
    ]
    torch.testing.assert_close(plain, unit)
    assert plain != balanced


@torch.no_grad()
def test_the_label_comes_from_the_full_text(batch):
    method = tiny_model("sup_rat").method
    output = method.explain(batch)
    assert not method.faithful
    assert torch.equal(output.logits, output.full_text)
    assert torch.equal(output.rationale, method.label_from_mask(batch, output.mask))
    assert not torch.equal(output.rationale, output.full_text)
