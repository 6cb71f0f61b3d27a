"""RTP: one network in three roles; as a judge it does not learn."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from games import movers, reaches, turn_losses
from torch.nn import functional as F

from helpers import tiny_batch, tiny_corpus, tiny_model
from rationalize.models.masking import complement


@pytest.fixture
def method():
    return tiny_model("rtp").method


def masks_of(method, batch):
    """The label's mask as the formula gives it, by plain loops."""
    reading = method.net.encoder.read(batch)
    raw = method.mask_head(reading.hidden)
    n_classes = method.n_classes
    out = torch.zeros(batch.selectable.shape)
    for row, label in enumerate(batch.labels.tolist()):
        own = batch.selectable[row].nonzero().squeeze(-1).tolist()
        for i in own:
            logit = sum(
                raw[row, j, n_classes + label] * torch.exp(-((i - j) ** 2) / raw[row, j, label].exp())
                for j in own
            )
            out[row, i] = torch.sigmoid(logit)
    return out


def test_the_parts_are_what_the_paper_says(method):
    batch = tiny_batch(tiny_corpus(3))
    with torch.no_grad():
        method.mask_head.weight.mul_(5)
        parts = turn_losses(method, "play", batch)
        mask = masks_of(method, batch)
        rows = torch.arange(len(batch))
        rest = method.net.predict(batch, complement(mask, batch)).softmax(-1)[rows, batch.labels]
        rationale = F.cross_entropy(method.net.predict(batch, mask), batch.labels)
        shares = mask.sum(-1) / batch.selectable.sum(-1)
    torch.testing.assert_close(parts["task"], F.cross_entropy(method.net.read(batch), batch.labels))
    torch.testing.assert_close(parts["rationale"], rationale)
    torch.testing.assert_close(parts["complement"], (rest - 0.5).clamp(min=0).mean())
    torch.testing.assert_close(parts["share"], shares.square().mean())
    assert parts["complement"] > 0


def test_the_released_weights(method):
    expected = {"rationale": 2.5, "complement": 2.5, "share": 0.3, "others": 0.075}
    expected |= {"mass": 0.0015, "width": 0.03, "smooth": 0.075}
    assert method.weights() == pytest.approx({**expected, "blank": 1.0})
    assert tiny_model("rtp", blank_weight=0).method.weights() == pytest.approx(expected)


@pytest.mark.parametrize("turn", ["learn", "play"])
def test_of_nothing_nothing_may_be_said(method, batch, turn):
    """The network learns to be undecided where everything is hidden, whatever was there."""
    nothing = torch.zeros_like(batch.selectable)
    blank = turn_losses(method, turn, batch)["blank"]
    chances = method.net.predict(batch, nothing).softmax(-1)
    expected = (0.5 * (0.5 / chances).log()).sum(-1).mean()
    torch.testing.assert_close(blank, expected)
    assert reaches(blank, method.net.head.parameters())
    assert not reaches(blank, method.mask_head.parameters())
    assert "blank" not in turn_losses(tiny_model("rtp", blank_weight=0).method, turn, batch)


@pytest.mark.parametrize("part", ["rationale", "complement"])
def test_the_judge_does_not_learn_from_its_verdict(batch, part):
    method = tiny_model("rtp").method
    torch.nn.init.normal_(method.net.head.weight)
    loss = turn_losses(method, "play", batch)[part]
    assert reaches(loss, method.mask_head.parameters())
    assert reaches(loss, method.net.encoder.parameters())  # through the mask
    assert not reaches(loss, method.net.head.parameters())


def test_through_the_mask_is_the_only_way(batch):
    """With the masks cut off, the verdict reaches nothing at all."""
    method = tiny_model("rtp").method
    original = method.read
    method.read = lambda batch: original(batch)._replace(masks=original(batch).masks.detach())
    parts = turn_losses(method, "play", batch)
    assert not parts["rationale"].requires_grad
    assert reaches(parts["task"], method.net.head.parameters())


def test_the_judge_reads_without_noise_and_goes_on_learning(batch):
    method = tiny_model("rtp", encoder={"dropout": 0.5}).method.train()
    seen = []
    original = method.net.predict

    def spy(batch, mask):
        assert not any(each.training for each in method.net.modules())
        seen.append(mask)
        return original(batch, mask)

    method.net.predict = spy
    method.blank_losses = lambda batch: {}
    turn_losses(method, "play", batch)
    assert len(seen) == 2
    torch.testing.assert_close(seen[0] + seen[1], batch.selectable.float())
    assert all(each.training for each in method.net.modules())
    assert all(weight.requires_grad for weight in method.parameters())


def test_pretraining_leaves_the_masks_alone(tmp_path):
    method = tiny_model("rtp", pretrain=1).method
    before = method.mask_head.weight.clone()
    assert movers(method, tmp_path, n=2) == [("pretrain", {"model"})] * 2 + [("unsupervised", {"model"})] * 2
    assert not torch.equal(method.mask_head.weight, before)
    for loss in turn_losses(method, "learn", tiny_batch(tiny_corpus(2))).values():
        assert not reaches(loss, method.mask_head.parameters())


@torch.no_grad()
def test_the_mask_of_the_predicted_class_is_shown(method, batch):
    method.mask_head.weight.mul_(20)
    output = method.explain(batch)
    predicted = method.net.read(batch).argmax(-1)
    expected = masks_of(method, replace(batch, labels=predicted))
    torch.testing.assert_close(output.scores, expected)
    other = masks_of(method, replace(batch, labels=1 - predicted))
    assert not torch.allclose(expected, other, atol=1e-3)
    torch.testing.assert_close(output.logits, method.net.read(batch))
    assert not method.faithful


@pytest.mark.parametrize("decoding", ["argmax", "topk", "span"])
@torch.no_grad()
def test_any_decoding_reads_the_mask_off(batch, decoding):
    method = tiny_model("rtp", selection={"decoding": decoding, "share": 0.25, "whole_words": False}).method
    output = method.explain(batch)
    if decoding == "argmax":
        assert torch.equal(output.mask, (output.scores > 0.5) & batch.selectable)
    else:
        wanted = (0.25 * batch.selectable.sum(-1)).ceil()
        assert torch.equal(output.mask.sum(-1), wanted.long())
