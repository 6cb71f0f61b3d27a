"""HardKuma: closed forms against Monte Carlo and a second formula, gradients against finite differences."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import gradcheck
from torch.distributions import Kumaraswamy

from rationalize.methods.hardkuma.kumaraswamy import (
    LARGEST,
    LEFT,
    RIGHT,
    SMALLEST,
    HardKuma,
    invert_share,
    make_hardkuma,
)
from rationalize.models.losses import continuity, expected_switches
from rationalize.seeding import generator_for

SHAPES = [(0.3, 0.4), (0.7, 0.7), (1.0, 1.0), (0.5, 3.0), (4.0, 0.6), (2.0, 8.0)]


def generator(seed=0):
    return generator_for(seed, "test")


def law(a, b, n=1):
    return HardKuma(torch.full((n,), a, dtype=torch.float64), torch.full((n,), b, dtype=torch.float64))


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_closed_forms_agree_with_torch(a, b):
    """The stretched law's mass below 0 and above 1, by the cumulative function of torch."""
    kuma = Kumaraswamy(torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64))
    below = kuma.cdf(torch.tensor(-LEFT / (RIGHT - LEFT), dtype=torch.float64))
    above = 1 - kuma.cdf(torch.tensor((1 - LEFT) / (RIGHT - LEFT), dtype=torch.float64))
    ours = law(a, b)
    torch.testing.assert_close(ours.zero()[0], below)
    torch.testing.assert_close(ours.nonzero()[0], 1 - below)
    torch.testing.assert_close(ours.one()[0], above)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_samples_are_zero_and_one_as_often_as_they_should(a, b):
    drawn = law(a, b, 200_000).sample(generator())
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    # The noise leaves out the outer thousandths.
    assert (drawn == 0).double().mean().item() == pytest.approx(law(a, b).zero().item(), abs=0.005)
    assert (drawn == 1).double().mean().item() == pytest.approx(law(a, b).one().item(), abs=0.005)
    # Between, the share below one half is that of the stretched law.
    half = Kumaraswamy(torch.tensor(a), torch.tensor(b)).cdf(torch.tensor((0.5 - LEFT) / (RIGHT - LEFT)))
    assert (drawn < 0.5).double().mean().item() == pytest.approx(half.item(), abs=0.005)


def test_uniform_noise_is_a_uniform_sample():
    """Kuma(1, 1) is uniform: P(z = 0) and P(z = 1) are the stretched margins, 1/12 each."""
    assert law(1.0, 1.0).zero().item() == pytest.approx(1 / 12)
    assert law(1.0, 1.0).one().item() == pytest.approx(1 / 12)


def test_expected_switches_against_brute_force():
    raw = torch.randn(2, 7, 2, generator=generator(2), dtype=torch.float64) * 2
    selectable = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])
    kuma = make_hardkuma(raw)
    many = HardKuma(kuma.a.expand(20_000, 2, 7), kuma.b.expand(20_000, 2, 7)).sample(generator())
    switched = continuity((many != 0).double().flatten(0, 1), selectable.repeat(20_000, 1))
    assert expected_switches(kuma.nonzero(), selectable).item() == pytest.approx(switched.item(), abs=0.005)


def test_gradients_against_finite_differences():
    raw = torch.randn(3, 4, 2, generator=generator(1), dtype=torch.float64).requires_grad_()
    assert gradcheck(lambda each: make_hardkuma(each).sample(generator(7)), raw)
    for part in (HardKuma.zero, HardKuma.nonzero, HardKuma.one):
        assert gradcheck(lambda each, part=part: part(make_hardkuma(each)), raw)


def test_selected_unless_zero_is_likeliest_of_three():
    grid = torch.rand(500, 2, generator=generator(), dtype=torch.float64) * 8 - 4
    kuma = make_hardkuma(grid)
    zero, one = kuma.zero(), kuma.one()
    three = torch.stack([zero, 1 - zero - one, one], -1)
    pair = kuma.mode_logits()
    assert torch.equal(pair[..., 1] >= pair[..., 0], three.argmax(-1) != 0)
    assert 50 < (three.argmax(-1) == 0).sum() < 450  # both kinds are in the grid


@pytest.mark.parametrize(
    "corner", [(SMALLEST, SMALLEST), (SMALLEST, LARGEST), (LARGEST, SMALLEST), (LARGEST, LARGEST)]
)
def test_corners_are_numbers_in_single_precision(corner):
    shapes = [torch.full((1000,), value, requires_grad=True) for value in corner]
    kuma = HardKuma(*shapes)
    parts = [kuma.sample(generator()), kuma.zero(), kuma.nonzero(), kuma.one(), kuma.mode_logits()]
    sum(part.sum() for part in parts).backward()
    assert all(part.isfinite().all() for part in parts)
    assert all(shape.grad.isfinite().all() for shape in shapes)


def test_half_precision_is_lifted_and_wild_numbers_are_tamed():
    assert make_hardkuma(torch.zeros(3, 2, dtype=torch.float16)).a.dtype == torch.float32
    assert make_hardkuma(torch.zeros(3, 2, dtype=torch.float64)).a.dtype == torch.float64
    wild = torch.tensor([[-1e6, 1e6], [1e6, -1e6]], requires_grad=True)
    kuma = make_hardkuma(wild)
    assert {kuma.a.min().item(), kuma.b.max().item()} == {torch.tensor(SMALLEST).item(), LARGEST}
    (kuma.sample(generator()).sum() + kuma.nonzero().sum()).backward()
    assert wild.grad.isfinite().all()


def test_the_generator_decides_and_nothing_else():
    kuma = law(0.7, 0.7, 50)
    torch.manual_seed(1)
    first = kuma.sample(generator(3))
    torch.manual_seed(2)
    assert torch.equal(first, kuma.sample(generator(3)))
    assert not torch.equal(first, kuma.sample(generator(4)))


@pytest.mark.parametrize("share", [0.01, 0.15, 0.5, 0.99])
def test_raw_numbers_of_a_share(share):
    raw = torch.tensor(invert_share(share), dtype=torch.float64)
    assert make_hardkuma(raw).nonzero().item() == pytest.approx(share)
