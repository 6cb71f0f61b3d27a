"""Policy gradients: what is drawn, how likely it was, and the gradient against all masks enumerated."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch.distributions import Bernoulli

from rationalize.models.policy import MovingAverage, draw, entropy, log_probability, policy_loss
from rationalize.models.weights import collect_weights, load_weights
from rationalize.seeding import generator_for

SELECTABLE = torch.tensor([[True, True, True, False]])


def generator(seed=0):
    return generator_for(seed, "test")


def some_logits():
    return torch.randn(1, 4, 2, generator=generator(5), dtype=torch.float64)


def cost_of(mask):
    """A cost without structure: every mask of three pieces has its own."""
    table = torch.tensor([2.0, -1.0, 0.3, 4.0, 0.7, 0.1, -2.0, 1.0], dtype=torch.float64)
    return table[(mask[:, :3] @ torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)).long()]


def exact_gradient(logits):
    """Of Σ_z p(z) cost(z), with p a plain product."""
    own = logits.clone().requires_grad_()
    chance = own.softmax(-1)[..., 1]
    total = 0.0
    for choice in product([0.0, 1.0], repeat=3):
        mask = torch.tensor([[*choice, 0.0]], dtype=torch.float64)
        p = torch.where(mask > 0, chance, 1 - chance)[:, :3].prod(-1)
        total = total + (p * cost_of(mask)).sum()
    return torch.autograd.grad(total, own)[0]


@pytest.mark.parametrize("baseline", [0.0, 0.8])
def test_weighted_by_probability_the_gradient_is_exact(baseline):
    """Enumerated, not sampled: Σ_z p(z) ∇ loss(z) is the gradient of the expected cost, whatever the baseline."""
    logits = some_logits()
    total = torch.zeros_like(logits)
    for choice in product([0.0, 1.0], repeat=3):
        own = logits.clone().requires_grad_()
        mask = torch.tensor([[*choice, 0.0]], dtype=torch.float64)
        log_p = log_probability(own, mask, SELECTABLE)
        loss = policy_loss(cost_of(mask), torch.tensor(baseline), log_p)
        total += log_p.detach().exp() * torch.autograd.grad(loss, own)[0]
    torch.testing.assert_close(total, exact_gradient(logits))
    assert (total[:, 3] == 0).all()


def test_drawn_masks_give_it_on_average_and_a_baseline_less_noise():
    logits, n = some_logits(), 40_000
    spread = {}
    for baseline in (0.0, cost_of(torch.zeros(1, 4, dtype=torch.float64)).item() / 2):
        own = logits.expand(n, 4, 2).clone().requires_grad_()
        mask = draw(own, generator()) * SELECTABLE
        log_p = log_probability(own, mask, SELECTABLE.expand(n, 4))
        loss = policy_loss(cost_of(mask), torch.tensor(baseline), log_p)
        each = torch.autograd.grad(loss, own)[0] * n
        torch.testing.assert_close(each.mean(0, keepdim=True), exact_gradient(logits), atol=0.02, rtol=0)
        spread[baseline] = each.var(0).sum().item()
    first, second = spread.values()
    assert second < first


def test_masks_are_drawn_with_their_probability():
    logits = some_logits().expand(100_000, 4, 2)
    drawn = draw(logits.clone().requires_grad_(), generator())
    assert not drawn.requires_grad
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    torch.testing.assert_close(drawn.mean(0), logits[0].softmax(-1)[:, 1], atol=0.006, rtol=0)
    sure = torch.tensor([[[1e4, -1e4], [-1e4, 1e4]]])
    assert all(draw(sure, generator(seed)).tolist() == [[0, 1]] for seed in range(20))


def test_log_probability_and_entropy_are_those_of_torch():
    logits = some_logits()
    law = Bernoulli(logits=(logits[..., 1] - logits[..., 0])[:, :3])
    mask = torch.tensor([[1.0, 0.0, 1.0, 1.0]], dtype=torch.float64)
    torch.testing.assert_close(log_probability(logits, mask, SELECTABLE), law.log_prob(mask[:, :3]).sum(-1))
    torch.testing.assert_close(entropy(logits, SELECTABLE), law.entropy().mean(-1))
    nothing = torch.zeros_like(SELECTABLE)
    assert log_probability(logits, mask, nothing).item() == entropy(logits, nothing).item() == 0


def test_the_average_is_used_before_it_moves_and_is_saved():
    average = MovingAverage(1.0, memory=0.75).train()
    assert average(torch.tensor([4.0, 6.0])).item() == 1.0
    assert average.value.item() == pytest.approx(0.75 * 1 + 0.25 * 5)
    fresh = MovingAverage(0.0, memory=0.75).train()
    with torch.no_grad():
        load_weights(fresh, collect_weights(average), "here")
    assert fresh(torch.tensor([0.0])).item() == pytest.approx(2.0)
    average.eval()
    average(torch.tensor([100.0]))
    assert average.value.item() == pytest.approx(2.0)
