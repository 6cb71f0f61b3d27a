"""The prior of a gate, its relaxation, and switches in expectation, against torch.distributions and brute force."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch.autograd import gradcheck
from torch.distributions import Bernoulli, RelaxedBernoulli, kl_divergence

from rationalize.models.losses import bernoulli_kl, continuity, expected_switches
from rationalize.models.samplers import as_pair, relaxed_bernoulli
from rationalize.seeding import generator_for

LOGITS = torch.linspace(-6, 6, 25, dtype=torch.float64)


def generator(seed=0):
    return generator_for(seed, "test")


@pytest.mark.parametrize("prior", [0.01, 0.2, 0.5, 0.9])
def test_bernoulli_kl_is_that_of_torch(prior):
    expected = kl_divergence(Bernoulli(logits=LOGITS), Bernoulli(torch.full_like(LOGITS, prior)))
    torch.testing.assert_close(bernoulli_kl(LOGITS, prior), expected)
    at_prior = torch.tensor(prior, dtype=torch.float64).logit()
    assert bernoulli_kl(at_prior, prior).item() == pytest.approx(0, abs=1e-12)


def test_bernoulli_kl_gradient_and_ends():
    assert gradcheck(lambda logits: bernoulli_kl(logits, 0.3), LOGITS.clone().requires_grad_())
    wild = torch.tensor([-1e8, 1e8], requires_grad=True)
    ends = bernoulli_kl(wild, 0.25)
    ends.sum().backward()
    torch.testing.assert_close(ends, -torch.tensor([0.75, 0.25]).log())
    assert wild.grad.isfinite().all()


@pytest.mark.parametrize("logit", [-1.5, 0.0, 0.8])
@pytest.mark.parametrize("temperature", [0.3, 0.7])
def test_relaxed_gates_have_the_law_of_torch(logit, temperature):
    """Same quantiles as torch's own, and above one half exactly as often as the probability says."""
    logits = torch.full((100_000,), logit, dtype=torch.float64)
    ours = relaxed_bernoulli(logits, temperature, generator())
    assert (ours > 0.5).double().mean().item() == pytest.approx(
        torch.tensor(logit).sigmoid().item(), abs=0.006
    )
    levels = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95], dtype=torch.float64)
    law = RelaxedBernoulli(torch.tensor(temperature, dtype=torch.float64), logits=logits[:1])
    below = law.base_dist  # a logistic law before the sigmoid
    noise = levels.log() - torch.log1p(-levels)
    quantiles = ((logits[0] + noise) / below.temperature).sigmoid()
    torch.testing.assert_close(ours.quantile(levels), quantiles, atol=0.02, rtol=0)


def test_relaxed_gates_pass_gradients():
    logits = torch.randn(2, 5, generator=generator(), dtype=torch.float64).requires_grad_()
    assert gradcheck(lambda each: relaxed_bernoulli(each, 0.7, generator(3)), logits)


def test_a_pair_has_the_probability_of_its_logit():
    torch.testing.assert_close(as_pair(LOGITS).softmax(-1)[..., 1], LOGITS.sigmoid())


@pytest.mark.parametrize("kind", ["mean", "sum"])
def test_expected_switches_sum_over_all_masks(kind):
    """Every mask of four pieces, weighted by its probability; the fifth is no document piece."""
    chance = torch.tensor([[0.1, 0.7, 0.5, 0.9, 0.4]], dtype=torch.float64)
    selectable = torch.tensor([[True, True, True, True, False]])
    expected = 0.0
    for choice in product([0.0, 1.0], repeat=5):
        mask = torch.tensor([choice], dtype=torch.float64)
        probability = torch.where(mask > 0, chance, 1 - chance).prod()
        expected += probability * continuity(mask, selectable, kind)
    torch.testing.assert_close(expected_switches(chance, selectable, kind), expected)


def test_expected_switches_of_a_sure_mask_are_its_switches():
    mask = (torch.rand(3, 8, generator=generator()) > 0.5).double()
    selectable = torch.ones(3, 8, dtype=torch.bool)
    assert expected_switches(mask, selectable) == continuity(mask, selectable)
