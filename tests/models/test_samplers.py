"""Samplers: right on average, exact at the ends, the same for the same generator."""

from __future__ import annotations

import pytest
import torch

from rationalize.models.samplers import (
    SAMPLERS,
    draw_gumbel_noise,
    gumbel_hard,
    gumbel_soft,
    straight_through,
)
from rationalize.seeding import generator_for


def generator(seed=0):
    return generator_for(seed, "test")


def test_gumbel_noise_has_the_mean_and_spread_of_its_law():
    noise = draw_gumbel_noise(torch.Size([200_000]), generator(), torch.zeros(1, dtype=torch.float64))
    assert noise.dtype == torch.float64
    assert noise.mean().item() == pytest.approx(0.5772, abs=0.01)
    assert noise.var().item() == pytest.approx(1.6449, abs=0.03)


@pytest.mark.parametrize("logit", [-2.0, 0.0, 1.0])
def test_hard_samples_come_with_the_softmax_probability(logit):
    """The Gumbel-max trick: the larger noisy logit wins with the softmax probability, at any temperature."""
    logits = torch.tensor([0.0, logit]).expand(1, 100_000, 2)
    for temperature in (0.3, 2.0):
        share = gumbel_hard(logits, temperature, generator()).mean().item()
        assert share == pytest.approx(torch.sigmoid(torch.tensor(logit)).item(), abs=0.006)


def test_hard_masks_are_exactly_zero_or_one():
    logits = torch.randn(50, 200, 2, generator=generator())
    mask = gumbel_hard(logits, 0.7, generator(1))
    assert set(mask.unique().tolist()) == {0.0, 1.0}
    soft = torch.rand(100_000, generator=generator(2))
    assert torch.equal(straight_through(soft), (soft > 0.5).float())


def test_hard_is_soft_rounded():
    logits = torch.randn(3, 20, 2, generator=generator())
    soft, hard = gumbel_soft(logits, 0.7, generator(5)), gumbel_hard(logits, 0.7, generator(5))
    assert torch.equal(hard, (soft > 0.5).float())
    assert ((soft > 0) & (soft < 1)).all()


def test_low_temperature_makes_soft_masks_hard():
    logits = torch.randn(3, 200, 2, generator=generator())
    distance = [
        (gumbel_soft(logits, t, generator(5)) - gumbel_hard(logits, t, generator(5))).abs().mean().item()
        for t in (5.0, 1.0, 0.1)
    ]
    assert distance[0] > distance[1] > distance[2]


def test_straight_through_passes_the_soft_gradient():
    logits = torch.randn(2, 30, 2, generator=generator(), dtype=torch.float64)
    weights = torch.randn(2, 30, generator=generator(1), dtype=torch.float64)
    gradients = []
    for sampler in (gumbel_soft, gumbel_hard):
        own = logits.clone().requires_grad_()
        (sampler(own, 0.8, generator(7)) * weights).sum().backward()
        gradients.append(own.grad)
    assert torch.equal(gradients[0], gradients[1])
    assert (gradients[0] != 0).any()


def test_soft_gradient_against_finite_differences():
    logits = torch.randn(1, 4, 2, generator=generator(), dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda each: gumbel_soft(each, 0.8, generator(7)), logits)


@pytest.mark.parametrize("name", ["gumbel_soft", "gumbel_hard"])
def test_the_generator_decides_and_nothing_else(name):
    logits = torch.randn(2, 30, 2, generator=generator())
    sample = SAMPLERS[name]
    torch.manual_seed(1)
    first = sample(logits, 1.0, generator(3))
    torch.manual_seed(2)
    assert torch.equal(first, sample(logits, 1.0, generator(3)))
    assert not torch.equal(first, sample(logits, 1.0, generator(4)))


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("temperature", [1e-3, 1.0, 100.0])
def test_extreme_logits_give_numbers(name, temperature):
    logits = torch.tensor([[[1e4, -1e4], [-1e4, 1e4], [1e4, 1e4], [-1e4, -1e4]]], requires_grad=True)
    mask = SAMPLERS[name](logits, temperature, generator())
    mask.sum().backward()
    assert torch.isfinite(mask).all()
    assert torch.isfinite(logits.grad).all()
    assert mask[0, 0] < 1e-6
    assert mask[0, 1] > 1 - 1e-6


def test_noise_survives_the_ends_of_the_uniform_law(monkeypatch):
    for value in (0.0, 1.0):
        monkeypatch.setattr(torch, "rand", lambda shape, value=value, **_: torch.full(tuple(shape), value))
        assert torch.isfinite(draw_gumbel_noise(torch.Size([3]), generator(), torch.zeros(1))).all()
