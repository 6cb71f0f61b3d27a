"""Masks made of bumps, against the formula written out."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch

from rationalize.methods.rtp.gaussian import gaussian_logits, mask_losses, pick_class


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


@pytest.fixture
def selectable():
    return torch.tensor([[0, 1, 1, 1, 1, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0]], dtype=torch.bool)


def test_every_piece_hears_every_bump(selectable):
    weights, widths = drawn(3, 6, 2), drawn(3, 6, 2, seed=1).exp()
    found = gaussian_logits(weights, widths, selectable)
    for row in range(3):
        for i in range(6):
            for c in range(2):
                total = sum(
                    float(weights[row, j, c]) * math.exp(-((i - j) ** 2) / float(widths[row, j, c]))
                    for j in range(6)
                    if selectable[row, j]
                )
                assert float(found[row, i, c]) == pytest.approx(total, abs=1e-12)


def test_one_bump_by_hand():
    weights, widths = torch.zeros(1, 5, 1), torch.full((1, 5, 1), 4.0)
    weights[0, 2, 0] = 2.0
    found = gaussian_logits(weights, widths, torch.ones(1, 5, dtype=torch.bool))[0, :, 0]
    expected = [2 * math.exp(-1), 2 * math.exp(-0.25), 2.0, 2 * math.exp(-0.25), 2 * math.exp(-1)]
    torch.testing.assert_close(found, torch.tensor(expected))


def test_padding_and_the_query_are_not_heard(selectable):
    weights, widths = drawn(3, 6, 2), drawn(3, 6, 2, seed=1).exp()
    louder = torch.where(selectable[..., None], weights, 1e6)
    assert torch.equal(
        gaussian_logits(weights, widths, selectable), gaussian_logits(louder, widths, selectable)
    )


def test_the_mask_of_a_class():
    masks = drawn(3, 4, 5)
    found = pick_class(masks, torch.tensor([4, 0, 2]))
    for row, chosen in enumerate((4, 0, 2)):
        assert torch.equal(found[row], masks[row, :, chosen])


def test_the_losses_of_masks_by_plain_loops(selectable):
    labels = torch.tensor([1, 0, 1])
    masks = drawn(3, 6, 3).sigmoid() * selectable[..., None]
    widths = drawn(3, 6, 3, seed=1).exp()
    found = mask_losses(masks, widths, labels, selectable)
    totals = dict.fromkeys(("share", "others", "mass", "width", "smooth"), 0.0)
    for row, label in enumerate(labels.tolist()):
        own = [i for i in range(6) if selectable[row, i]]
        for c in range(3):
            mask = [float(masks[row, i, c]) for i in own]
            share = sum(mask) / max(1, len(own))
            totals["share" if c == label else "others"] += share**2
            totals["mass"] += share
            totals["width"] += sum((float(widths[row, i, c]) - 3) ** 2 for i in own) / max(1, len(own))
            totals["smooth"] += sum((b - a) ** 2 for a, b in pairwise(mask)) / 3
    assert found.keys() == totals.keys()
    for name, total in totals.items():
        assert float(found[name]) == pytest.approx(total / 3, abs=1e-12), name
