"""Taggers: a CRF whose marginals are read off as every other method's scores are, and that starts at its share."""

from __future__ import annotations

import pytest
import torch

from helpers import tiny_model
from rationalize.models import decoding

taggers = pytest.mark.parametrize("name", ["wsee", "at_bmc"])


def marginals(method, batch):
    reading = method.read(batch)
    emissions = method.emissions(reading.hidden, method.class_head(reading.pooled).argmax(-1))
    return emissions, method.crf.marginals(emissions, batch.selectable)[..., 1]


@taggers
@torch.no_grad()
def test_masks_are_read_off_the_marginals_by_the_rules_of_all_methods(batch, name):
    plain = {"share": 0.3, "threshold": 0.35, "whole_words": False}
    methods = {
        rule: tiny_model(name, selection={**plain, "decoding": rule}).method
        for rule in ("argmax", "threshold", "topk", "span")
    }
    for method in methods.values():
        method.crf.transitions.copy_(torch.tensor([[0.3, -0.6], [-0.2, 0.9]]))
    emissions, scores = marginals(methods["topk"], batch)
    where = batch.selectable
    expected = {
        "argmax": methods["argmax"].crf.viterbi(emissions, where).bool(),
        "threshold": decoding.threshold(scores, where, 0.35),
        "topk": decoding.topk(scores, where, 0.3),
        "span": decoding.span(scores, where, 0.3),
    }
    for rule, method in methods.items():
        output = method.explain(batch)
        assert torch.equal(output.mask, expected[rule]), rule
        torch.testing.assert_close(output.scores, scores)
    assert len({tuple(mask.flatten().tolist()) for mask in expected.values()}) > 2


@taggers
@torch.no_grad()
def test_an_unsure_tagger_still_shows_its_best_share(batch, name):
    """The likeliest sequence tags nothing; the marginals know which pieces are the best."""
    argmax, topk = (tiny_model(name, selection={"decoding": rule}).method for rule in ("argmax", "topk"))
    for method in (argmax, topk):
        method.emission_head.bias.copy_(torch.tensor([3.0, 0.0]))
    assert not argmax.explain(batch).mask.any()
    assert topk.explain(batch).mask.sum() >= 0.2 * batch.selectable.sum()
    assert tiny_model(name).method.config.selection.decoding == "topk"


@taggers
@pytest.mark.parametrize("share", [0.05, 0.2, 0.6])
@torch.no_grad()
def test_a_fresh_tagger_tags_about_as_much_as_is_wanted(batch, name, share):
    method = tiny_model(name, selection={"share": share}).method
    taken = marginals(method, batch)[1][batch.selectable].mean().item()
    assert taken == pytest.approx(share, rel=0.1)


@taggers
@pytest.mark.parametrize("weight", [None, 1.0, 3.0, "balanced"])
@torch.no_grad()
def test_gold_pieces_have_to_win_by_the_positive_weight(batch, name, weight):
    """Without scores of neighboring tags, every piece has a closed form of its own."""
    method = tiny_model(name, positive_weight=weight).method.double()
    torch.nn.init.normal_(method.emission_head.weight)
    hidden = torch.randn(*batch.words.shape, method.encoder.hidden_size, dtype=torch.float64)
    gap = method.emissions(hidden, batch.labels).diff(dim=-1).squeeze(-1)  # of "select" over "leave"
    where = batch.selectable & batch.has_gold[:, None]
    gold, others = where & batch.gold, where & ~batch.gold
    assert gold.any()
    handicap = {None: 1.0, "balanced": float(others.sum() / gold.sum())}.get(weight, weight)
    wanted = (handicap * (-gap[gold]).exp()).log1p().sum() + gap[others].exp().log1p().sum()
    found = method.tag_losses(hidden, batch.labels, batch)["select"]
    torch.testing.assert_close(found, wanted / where.sum(), check_dtype=False)


@taggers
@torch.no_grad()
def test_the_rationale_alone_is_read_as_the_selection_says(batch, name):
    mask = batch.selectable & (batch.words % 2 == 0)
    mixed, unseen = (
        tiny_model(name, selection={"masking": masking}).method.label_from_mask(batch, mask)
        for masking in ("mix", "attention")
    )
    assert not torch.allclose(mixed, unseen)
