"""A judge neither learns nor makes noise, but passes on what it thinks."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from helpers import tiny_batch, tiny_corpus, tiny_encoders
from rationalize.models.classifier import Classifier
from rationalize.models.frozen import freeze_weights


@pytest.mark.parametrize("encoder", ["tiny", "gru"])
def test_gradients_pass_through_a_judge_and_leave_no_trace(encoder):
    batch = tiny_batch(tiny_corpus(3))
    net = Classifier(tiny_encoders(name=encoder, dropout=0.5), 2).train()
    mask = batch.selectable.float().requires_grad_()
    with freeze_weights(net):
        first, second = (net.predict(batch, mask) for _ in range(2))
        modes = {type(each): each.training for each in net.modules()}
    assert torch.equal(first, second)
    assert not modes[nn.Dropout]
    assert modes.get(nn.GRU, True), "cuDNN could not go backward"
    first.sum().backward()
    assert mask.grad is not None
    assert mask.grad.any()
    assert all(weight.grad is None for weight in net.parameters())


def test_afterwards_everything_is_as_before():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(), nn.Linear(2, 2)).train()
    net[2].eval()
    net[0].bias.requires_grad_(False)
    with pytest.raises(ZeroDivisionError), freeze_weights(net):
        raise ZeroDivisionError
    assert [each.training for each in net.modules()] == [True, True, True, False]
    assert [weight.requires_grad for weight in net.parameters()] == [True, False, True, True]


def test_a_pass_before_the_judgment_still_learns():
    """One network may classify and judge in the same step."""
    net = nn.Linear(2, 2)
    x = torch.ones(1, 2)
    learned = net(x)
    with freeze_weights(net):
        judged = net(learned)
    judged.sum().backward()
    expected = net.weight.sum(0)[:, None] * x  # through the first pass alone
    torch.testing.assert_close(net.weight.grad, expected)
