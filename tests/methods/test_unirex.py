"""UNIREX: what keeping and removing the top words costs, in closed form, and whom it teaches."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import pytest
import torch
from contract import counted_passes, losses_of, turns_of, without_gold
from torch.autograd import grad
from torch.nn import functional as F

from helpers import tiny_batch, tiny_model
from rationalize.models.losses import select_cross_entropy
from rationalize.types import Example

SHARES = (0.1, 0.5)
FAITHFULNESS = ("comprehensiveness", "sufficiency")


def losses(method, batch):
    [(_, turn)] = turns_of(method)
    return losses_of(method, turn, batch)


def reached(loss, parameters):
    gradients = grad(loss, list(parameters), allow_unused=True, retain_graph=True)
    return any(gradient is not None and gradient.any() for gradient in gradients)


@pytest.mark.parametrize(("margin", "bound"), [(1.0, "slack"), (0.01, "tight")])
def test_closed_form_with_a_predictor_that_adds_up_its_words(batch, monkeypatch, margin, bound):
    """A fake predictor whose logits are sums over what it is shown; every loss by hand, row by row."""
    method = tiny_model(
        "unirex", shares=SHARES, comprehensiveness_margin=margin, sufficiency_margin=margin
    ).method
    generator = torch.Generator().manual_seed(0)
    n = batch.input_ids.shape[1]
    scores, votes = torch.randn(len(batch), n, generator=generator), torch.randn(n, 2, generator=generator)
    full = batch.selectable.float() @ votes
    monkeypatch.setattr(method.net, "predict", lambda batch, mask: mask.float() @ votes)
    found = method.faithfulness_losses(scores, full, batch)

    def cost(row, places):
        logits = votes[places].sum(0) if places else torch.zeros(2)
        return F.cross_entropy(logits[None], batch.labels[row : row + 1]).item()

    comprehensiveness, sufficiency = [], []
    for row, here in enumerate(batch.selectable):
        places = here.nonzero().squeeze(1).tolist()
        ranked = sorted(places, key=lambda at: -scores[row, at].item())
        whole = cost(row, places)
        for share in SHARES:
            top = ranked[: ceil(share * len(places))]
            rest = [at for at in places if at not in top]
            comprehensiveness.append(max(-margin, whole - cost(row, rest)) + margin)
            sufficiency.append(max(-margin, cost(row, top) - whole) + margin)
    if bound == "tight":
        assert 0.0 in comprehensiveness
        assert 0.0 in sufficiency
    by_hand = sum(comprehensiveness) / len(comprehensiveness), sum(sufficiency) / len(sufficiency)
    assert [found[part].item() for part in FAITHFULNESS] == pytest.approx(by_hand, rel=1e-5)


def test_the_selection_head_learns_from_gold_alone(batch):
    method = tiny_model("unirex").method
    parts, net = losses(method, batch), method.net
    for part in FAITHFULNESS:
        assert not reached(parts[part], net.select_head.parameters())
        assert reached(parts[part], net.class_head.parameters())
        assert reached(parts[part], net.encoder.parameters())
    assert reached(parts["select"], net.select_head.parameters())
    assert not reached(parts["select"], net.class_head.parameters())


def test_with_two_encoders_the_selectors_learns_from_gold_alone(batch):
    method = tiny_model("unirex", selection={"shared_encoder": False}).method
    parts, net = losses(method, batch), method.net
    for part in (*FAITHFULNESS, "task"):
        assert not reached(parts[part], net.selector_encoder.parameters())
    assert reached(parts["select"], net.selector_encoder.parameters())
    assert not reached(parts["select"], net.encoder.parameters())


def test_all_rationales_and_complements_are_read_at_once(batch, monkeypatch):
    method = tiny_model("unirex").method
    seen = []
    predict = method.net.predict
    monkeypatch.setattr(method.net, "predict", lambda *given: seen.append(given) or predict(*given))
    with counted_passes(method) as passes:
        losses(method, batch)
    assert len(passes) == 2
    [(copies, masks)] = seen
    assert torch.equal(copies.input_ids, batch.input_ids.repeat(10, 1))
    rationales, complements = masks.view(2, 5, *batch.selectable.shape)
    assert torch.equal(rationales ^ complements, batch.selectable.expand_as(rationales))
    counts = rationales.sum(-1)
    assert (counts[1:] >= counts[:-1]).all()
    assert (counts[0] >= 1).all()


def test_masked_pieces_are_hidden_from_attention_whatever_else_is_set():
    assert tiny_model("unirex", selection={"share": 0.3}).method.net.masking == "attention"


def test_plausibility_weighs_gold_up(batch):
    method = tiny_model("unirex").method
    logits, _ = method.net.read(batch)
    balanced = select_cross_entropy(logits, batch.gold, batch.selectable, "balanced")
    torch.testing.assert_close(losses(method, batch)["select"], balanced)
    assert losses(method, without_gold(batch)).keys() == {"task", *FAITHFULNESS}


def test_texts_of_one_piece_are_left_out_of_faithfulness(batch):
    method = tiny_model("unirex").method
    short = tiny_batch([Example("0", "a", "POS"), Example("1", "", "NEG")])
    assert losses(method, short).keys() == {"task"}
    cut = batch.selectable.clone()
    cut[0, 2:] = False
    mixed = replace(batch, selectable=cut, gold=batch.gold & cut, visible=batch.attention & ~cut)
    for part in FAITHFULNESS:
        torch.testing.assert_close(losses(method, mixed)[part], losses(method, batch.rows(slice(1, 6)))[part])
