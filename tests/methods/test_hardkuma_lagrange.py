"""Multipliers: up while a limit is exceeded, down while it is not, only in training, and saved."""

from __future__ import annotations

import math

import pytest
import torch

from rationalize.methods.hardkuma.lagrange import Multiplier
from rationalize.models.weights import collect_weights, load_weights


def multiplier(start=0.125, **changes):
    return Multiplier(
        start, **{"rate": 0.5, "memory": 0.5, "highest": 5.0, "below": "rewarded", **changes}
    ).train()


@pytest.mark.parametrize(("excess", "sign"), [(0.3, 1), (-0.3, -1), (0.0, 0)])
def test_it_moves_in_the_right_direction(excess, sign):
    held = multiplier()
    values = []
    for _ in range(5):
        held(torch.tensor(excess))
        values.append(held.value.item())
    steps = [b - a for a, b in zip([0.125, *values], values)]
    assert all(math.copysign(1, step) == sign if sign else abs(step) < 1e-9 for step in steps)


def test_two_steps_by_hand():
    held = multiplier()
    held(torch.tensor(0.4))  # average 0.2, λ · e^0.1
    assert held.value.item() == pytest.approx(0.125 * math.exp(0.1))
    loss = held(torch.tensor(-0.1))  # average 0.05
    assert held.average.item() == pytest.approx(0.05)
    assert held.value.item() == pytest.approx(0.125 * math.exp(0.1 + 0.025))
    assert loss.item() == pytest.approx(-0.1 * held.value.item())


def test_it_stays_between_its_ends():
    held = multiplier(rate=100.0)
    for _ in range(20):
        held(torch.tensor(1.0))
    assert held.value.item() == 5.0
    for _ in range(20):
        held(torch.tensor(-1.0))
    assert held.value.item() == pytest.approx(1e-12)


def test_the_gradient_is_lambda_times_that_of_the_excess():
    held, x = multiplier(), torch.tensor(3.0, requires_grad=True)
    loss = held(x * 2 - 1)
    used = held.value.item()
    held(torch.tensor(9.0))  # a later step must not reach back into the graph
    loss.backward()
    assert x.grad.item() == pytest.approx(2 * used)


def test_looking_does_not_move_it():
    held = multiplier().eval()
    assert held(torch.tensor(0.5)).item() == 0.0625
    assert held.value.item() == 0.125


def test_it_is_saved_with_the_weights():
    held, fresh = multiplier(), multiplier()
    for _ in range(3):
        held(torch.tensor(0.3))
    with torch.no_grad():
        load_weights(fresh, collect_weights(held), "here")
    assert fresh(torch.tensor(0.2)) == held(torch.tensor(0.2))
    assert not list(held.parameters())


@pytest.mark.parametrize(
    ("below", "cost", "slope"), [("free", 0, 0), ("pulled", 0.2, -1), ("rewarded", -0.2, 1)]
)
def test_what_it_costs_to_be_below_the_limit(below, cost, slope):
    held, x = multiplier(below=below), torch.tensor(-0.2, requires_grad=True)
    loss = held(x)
    loss.backward()
    assert loss.item() == pytest.approx(cost * held.value.item())
    assert x.grad.item() == pytest.approx(slope * held.value.item())
    assert held.value.item() < 0.125  # λ shrinks in any case
    assert held(torch.tensor(0.5)).item() == pytest.approx(0.5 * held.value.item())
