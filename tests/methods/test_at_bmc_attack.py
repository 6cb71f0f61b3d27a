"""The attack on embeddings: as large as asked, and worse for the classifier than chance."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rationalize.methods.at_bmc.attack import attack_embeddings
from rationalize.models.losses import kl_divergence


@pytest.fixture
def classifier():
    """Class logits (b, C) of embeddings (b, n, e), in double precision."""
    torch.manual_seed(0)
    body = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    return lambda embedded: body(embedded.mean(1) + embedded[:, 0])


@pytest.fixture
def embedded():
    return torch.randn(4, 6, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def attack(embedded, classifier, seed=0, radius=0.1):
    generator = torch.Generator().manual_seed(seed)
    return attack_embeddings(embedded, classifier, classifier(embedded), generator, step=1e-3, radius=radius)


@pytest.mark.parametrize("radius", [0.05, 1.0])
def test_every_piece_is_moved_by_the_radius(embedded, classifier, radius):
    delta = attack(embedded, classifier, radius=radius)
    torch.testing.assert_close(delta.abs().amax(-1), torch.full((4, 6), radius, dtype=torch.float64))
    assert not delta.requires_grad


def test_it_moves_the_classes_more_than_chance_does(embedded, classifier):
    """Against a hundred random perturbations of the same size."""
    clean = classifier(embedded)
    attacked = kl_divergence(clean, classifier(embedded + attack(embedded, classifier)))
    generator = torch.Generator().manual_seed(2)
    for _ in range(100):
        noise = torch.randn(embedded.shape, generator=generator, dtype=torch.float64)
        noise *= 0.1 / noise.abs().amax(-1, keepdim=True)
        assert kl_divergence(clean, classifier(embedded + noise)) < attacked


def test_the_generator_decides_and_nobody_gets_a_gradient(embedded, classifier):
    embedded.requires_grad_()
    one, same, other = (attack(embedded, classifier, seed) for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert embedded.grad is None


def test_pieces_that_do_not_matter_are_moved_in_numbers(classifier):
    """A classifier that reads nothing leaves only the noise."""
    zeros = torch.zeros(2, 3, 12, dtype=torch.float64)
    delta = attack(zeros, lambda embedded: 0 * classifier(embedded))
    assert delta.isfinite().all()
