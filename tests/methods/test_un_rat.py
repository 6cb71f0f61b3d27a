"""Un-RAT: the selector learns through the mask; hidden words are hidden whatever hides them."""

from __future__ import annotations

import pytest
import torch
from contract import counted_passes, hide_some, losses_of, scramble, turns_of
from torch.autograd import grad

from helpers import learn, tiny_corpus, tiny_model


def losses(method, batch):
    [(_, turn)] = turns_of(method)
    return losses_of(method, turn, batch)


@pytest.mark.parametrize("sampler", ["gumbel_soft", "gumbel_hard"])
@pytest.mark.parametrize("shared", [True, False])
def test_the_selector_learns_from_the_label_through_the_mask(batch, sampler, shared):
    method = tiny_model("un_rat", selection={"sampler": sampler, "shared_encoder": shared}).method
    net = method.net
    reached = [net.select_head.weight, *net.selector_encoder.parameters()]
    gradients = grad(losses(method, batch)["task"], reached, allow_unused=True)
    assert gradients[0].abs().sum() > 0
    assert any(gradient is not None and gradient.any() for gradient in gradients[1:])


def test_share_and_smoothness_teach_the_selector_alone(batch):
    method = tiny_model("un_rat", selection={"shared_encoder": False}).method
    parts = losses(method, batch)
    predictor = [*method.net.class_head.parameters(), *method.net.encoder.parameters()]
    for part in ("sparsity", "continuity"):
        assert grad(parts[part], method.net.select_head.weight, retain_graph=True)[0].any()
        assert not any(
            g is not None for g in grad(parts[part], predictor, allow_unused=True, retain_graph=True)
        )


@pytest.mark.parametrize("masking", ["mix", "zero", "attention"])
@pytest.mark.parametrize("encoder", ["tiny", "gru"])
@torch.no_grad()
def test_hidden_words_do_not_reach_the_label(masking, encoder):
    method, batch, mask = hide_some("un_rat", encoder, masking)
    shown, scrambled = (
        method.label_from_mask(batch, mask),
        method.label_from_mask(scramble(batch, mask), mask),
    )
    assert torch.equal(shown, scrambled)
    assert not torch.equal(shown, method.label_from_mask(batch, batch.selectable))


@pytest.mark.parametrize(("shared", "passes"), [(True, 1), (False, 2)])
@torch.no_grad()
def test_full_text_and_selection_share_one_reading(batch, shared, passes):
    method = tiny_model("un_rat", selection={"shared_encoder": shared}).method
    with counted_passes(method) as counted:
        method.net.read(batch)
    assert len(counted) == passes


@pytest.mark.slow
def test_it_learns_the_labels_from_the_words_it_selects(tmp_path):
    model, _ = learn("un_rat", tmp_path / "run", epochs=12, options={"selection": {"share": 0.3}})
    dev = tiny_corpus(60)[40:]
    explained = [item.explanation for item in model.engine().explain(dev)]
    right = sum(said.label == example.label for said, example in zip(explained, dev, strict=True))
    selected = sum(sum(said.selected) for said in explained) / sum(len(said.words) for said in explained)
    assert right >= 18
    assert 0 < selected < 0.5
