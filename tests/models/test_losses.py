"""Losses against numbers worked out by hand, and their gradients against finite differences."""

from __future__ import annotations

import math

import pytest
import torch
from torch.autograd import gradcheck

from rationalize.models.losses import (
    bernoulli_kl,
    continuity,
    expected_switches,
    hinge,
    imitation,
    js_divergence,
    kl_divergence,
    log_norm,
    q_to_uniform_kl,
    read_numbers,
    select_cross_entropy,
    selected_share,
    sparsity,
    squared_distance,
    task_cross_entropy,
    uniform_divergence,
    uniform_kl,
)

# Row 1: special, 4 document pieces, special. Row 2: special, 2 pieces, special, padding twice.
SELECTABLE = torch.tensor([[0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 0]], dtype=torch.bool)
MASK = torch.tensor([[9.0, 1.0, 0.0, 1.0, 1.0, 9.0], [9.0, 0.5, 0.0, 9.0, 9.0, 9.0]])  # 9: must not count


def double(*shape, seed=0):
    values = torch.rand(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return values.requires_grad_()


def close(value):
    return pytest.approx(value, abs=1e-6)


def test_selected_share_counts_document_pieces_only():
    assert selected_share(MASK, SELECTABLE).tolist() == close([0.75, 0.25])
    assert selected_share(MASK, torch.zeros_like(SELECTABLE)).tolist() == [
        0,
        0,
    ]  # an empty text is no division by 0


@pytest.mark.parametrize(
    ("kind", "target", "expected"),
    [
        ("instance", 0.5, (0.25 + 0.25) / 2),
        ("instance", 0.2, (0.55 + 0.05) / 2),
        ("batch", 0.5, abs(3.5 / 6 - 0.5)),  # the two rows weigh by their length
        ("batch", 0.7, abs(3.5 / 6 - 0.7)),
        ("hinge", 0.5, (0.25 + 0) / 2),
        ("hinge", 0.9, 0.0),
    ],
)
def test_sparsity(kind, target, expected):
    assert sparsity(MASK, SELECTABLE, target, kind).item() == close(expected)


@pytest.mark.parametrize(("kind", "expected"), [("mean", (2 / 3 + 0.5 / 1) / 2), ("sum", (2 + 0.5) / 2)])
def test_continuity_counts_switches_between_neighbors_of_the_document(kind, expected):
    assert continuity(MASK, SELECTABLE, kind).item() == close(expected)


@pytest.mark.parametrize("kind", ["mean", "sum"])
def test_a_run_is_as_smooth_wherever_it_lies(kind):
    """Entering a run at the first piece costs nothing: the borders of the text are no switches."""
    selectable = torch.ones(1, 8, dtype=torch.bool)
    masks = {start: torch.zeros(1, 8) for start in (0, 2, 5)}
    for start, mask in masks.items():
        mask[0, start : start + 3] = 1
    costs = {start: continuity(mask, selectable, kind).item() for start, mask in masks.items()}
    assert costs[0] == costs[5] == costs[2] / 2
    assert continuity(torch.ones(1, 8), selectable, kind).item() == 0
    assert continuity(torch.ones(1, 8), torch.zeros(1, 8, dtype=torch.bool), kind).item() == 0


def test_select_cross_entropy_by_hand():
    logits = torch.tensor([[[0.0, 0.0], [0.0, math.log(3)], [math.log(3), 0.0], [50.0, -50.0]]])
    gold = torch.tensor([[True, True, False, True]])
    where = torch.tensor([[True, True, True, False]])  # the wildly wrong last piece does not count
    losses = [math.log(2), math.log(4 / 3), math.log(4 / 3)]
    assert select_cross_entropy(logits, gold, where).item() == close(sum(losses) / 3)
    weighted = (5 * losses[0] + 5 * losses[1] + losses[2]) / 11
    assert select_cross_entropy(logits, gold, where, 5.0).item() == close(weighted)
    balanced = (0.5 * losses[0] + 0.5 * losses[1] + losses[2]) / 2
    assert select_cross_entropy(logits, gold, where, "balanced").item() == close(balanced)


def test_balanced_gives_both_sides_the_same_say():
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(4, 30, 2, generator=generator)
    gold = torch.rand(4, 30, generator=generator) < 0.1
    where = torch.ones_like(gold)
    pieces = torch.nn.functional.cross_entropy(logits.flatten(0, 1), gold.flatten().long(), reduction="none")
    both = (pieces[gold.flatten()].mean() + pieces[~gold.flatten()].mean()) / 2
    assert select_cross_entropy(logits, gold, where, "balanced").item() == close(both.item())


@pytest.mark.parametrize("gold", [True, False])
@pytest.mark.parametrize("weight", [None, 3.0, "balanced"])
def test_one_sided_gold_is_still_a_number(gold, weight):
    logits = torch.tensor([[[0.0, 1.0], [2.0, 0.0]]])
    everywhere = torch.ones(1, 2, dtype=torch.bool)
    loss = select_cross_entropy(logits, torch.full((1, 2), gold), everywhere, weight)
    assert torch.isfinite(loss)
    assert loss > 0


def test_divergences_from_uniform_by_hand():
    even, sure = torch.zeros(3, 4), torch.tensor([[math.log(3), 0.0]])  # softmax: 3/4, 1/4
    assert uniform_kl(even).item() == close(0)
    assert q_to_uniform_kl(even).item() == close(0)
    assert uniform_kl(sure).item() == close(0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25))
    assert q_to_uniform_kl(sure).item() == close(0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5))
    assert uniform_divergence(sure, "uniform_to_q") == uniform_kl(sure)
    assert uniform_divergence(sure, "q_to_uniform") == q_to_uniform_kl(sure)
    both = torch.tensor([[math.log(3), 0.0], [0.0, math.log(3)], [math.log(3), 0.0]])  # means over the batch
    assert uniform_kl(both).item() == close(uniform_kl(sure).item())
    wild = torch.tensor([[1e4, -1e4]])
    assert torch.isfinite(uniform_kl(wild))
    assert q_to_uniform_kl(wild).item() == close(math.log(2))


def test_divergences_do_not_mind_a_constant_added_to_all_logits():
    logits = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for loss in (uniform_kl, q_to_uniform_kl):
        assert loss(logits + 7).item() == close(loss(logits).item())
        assert loss(logits).item() > 0


def test_task_cross_entropy_and_distance_by_hand():
    logits = torch.tensor([[math.log(3), 0.0], [0.0, 0.0]])
    assert task_cross_entropy(logits, torch.tensor([0, 1])).item() == close(
        (math.log(4 / 3) + math.log(2)) / 2
    )
    left = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]])
    right = torch.tensor([[0.0, 0.0, 0.0], [0.0, 3.0, 1.0]])
    assert squared_distance(left, right).item() == close((5 + 5) / 2)


@pytest.mark.parametrize("kind", ["instance", "batch", "hinge"])
@pytest.mark.parametrize("target", [0.05, 0.9])
def test_sparsity_gradient(kind, target):
    assert gradcheck(lambda mask: sparsity(mask, SELECTABLE, target, kind), double(2, 6))


@pytest.mark.parametrize("kind", ["mean", "sum"])
def test_continuity_gradient(kind):
    assert gradcheck(lambda mask: continuity(mask, SELECTABLE, kind), double(2, 6))


@pytest.mark.parametrize("weight", [None, 2.5, "balanced"])
def test_select_cross_entropy_gradient(weight):
    gold = torch.tensor([[0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0]], dtype=torch.bool)
    assert gradcheck(lambda logits: select_cross_entropy(logits, gold, SELECTABLE, weight), double(2, 6, 2))


@pytest.mark.parametrize("loss", [uniform_kl, q_to_uniform_kl])
def test_divergence_gradient(loss):
    assert gradcheck(loss, double(3, 4))


def test_task_and_distance_gradients():
    labels = torch.tensor([0, 2, 1])
    assert gradcheck(lambda logits: task_cross_entropy(logits, labels), double(3, 4))
    assert gradcheck(squared_distance, (double(3, 4), double(3, 4, seed=1)))


def test_numbers_are_read_as_they_are_whatever_their_precision():
    third = torch.tensor(1 / 3)
    parts = {"task": third, "select": torch.tensor([1 / 3], dtype=torch.double), "low": third.bfloat16()}
    read = read_numbers([parts, {"gradient": torch.tensor(float("inf"))}])
    assert read == [{name: part.item() for name, part in parts.items()}, {"gradient": float("inf")}]


@pytest.mark.parametrize(("kind", "expected"), [("sum", (1.12 + 0.5) / 2), ("mean", (0.56 + 0.5) / 2)])
def test_expected_switches_by_hand(kind, expected):
    chance = torch.tensor([[0.2, 0.7, 0.5], [0.5, 0.3, 0.9]])
    selectable = torch.tensor([[1, 1, 1], [1, 1, 0]], dtype=torch.bool)
    # 0.7 · 0.8 + 0.3 · 0.2 = 0.62, then 0.5 · 0.3 + 0.5 · 0.7 = 0.5; in the second row 0.3 · 0.5 + 0.7 · 0.5
    assert expected_switches(chance, selectable, kind).item() == close(expected)


def test_a_certain_mask_has_the_switches_that_it_has():
    certain = (MASK > 0.9).float()
    assert expected_switches(certain, SELECTABLE).item() == close(continuity(certain, SELECTABLE).item())


def test_bernoulli_divergence_by_hand():
    found = bernoulli_kl(torch.tensor([math.log(3 / 7), 0.0]), prior=0.2)
    first = 0.3 * math.log(0.3 / 0.2) + 0.7 * math.log(0.7 / 0.8)
    second = 0.5 * math.log(0.5 / 0.2) + 0.5 * math.log(0.5 / 0.8)
    assert found.tolist() == close([first, second])


def test_divergences_between_two_predictions_by_hand():
    even, sure = torch.tensor([[0.5, 0.5], [0.9, 0.1]]).log(), torch.tensor([[0.9, 0.1], [0.9, 0.1]]).log()
    forward = 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    assert kl_divergence(even, sure).item() == close(forward / 2)  # the second row has none
    middle = 0.5 * math.log(0.5 / 0.7) + 0.5 * math.log(0.5 / 0.3)
    middle += 0.9 * math.log(0.9 / 0.7) + 0.1 * math.log(0.1 / 0.3)
    assert js_divergence(even, sure).item() == close(middle / 2 / 2)
    assert js_divergence(sure, even).item() == close(middle / 2 / 2)


def test_imitation_by_hand_counts_selectable_pieces_of_every_row_alike():
    selectable = torch.tensor([[False, True, True], [False, True, False]])
    shown = torch.tensor([[[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]]]).log()
    logits = torch.full((2, 3, 2), 0.5).log()
    first = 0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5)
    assert imitation(logits, shown, selectable).item() == close((first / 2 + first) / 2)
    assert imitation(shown, shown, selectable).item() == close(0.0)
    precise = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: imitation(each, shown.double(), selectable), precise)


def test_hinge_and_log_norm_by_hand():
    one, two = torch.tensor(1.0), torch.tensor(2.0)
    assert hinge(two, one).item() == 1.0
    assert hinge(one, two).item() == 0.0
    assert hinge(one, torch.tensor(1.25), margin=0.5).item() == 0.25
    vectors = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    assert log_norm(vectors).item() == pytest.approx((math.log(5) + math.log(1e-6)) / 2, abs=1e-4)


def test_one_selectable_piece_that_is_selected_is_all_of_them():
    one = torch.tensor([[1.0, 0.0]])
    assert selected_share(one, one).item() == 1
    assert sparsity(one, one, 0.25, "batch").item() == 0.75
