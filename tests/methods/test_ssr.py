from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from helpers import tiny_batch, tiny_corpus, tiny_model
from rationalize.config import RunConfig, TrainingConfig
from rationalize.models.losses import q_to_uniform_kl, squared_distance, uniform_divergence, uniform_kl
from rationalize.models.masking import read_masked
from rationalize.runs.settings import resolve_config
from rationalize.seeding import generator_for
from rationalize.training.optim import Players
from rationalize.training.phases import build_phases


@pytest.fixture
def batch():
    return tiny_batch(tiny_corpus(6))


def moved_by(method, loss: torch.Tensor) -> set[str]:
    """Names of the parameters that a loss has a gradient for."""
    method.zero_grad()
    loss.backward()
    return {
        name for name, p in method.named_parameters() if p.grad is not None and bool(p.grad.abs().sum() > 0)
    }


def test_divergences_from_uniform_in_closed_form():
    logits = torch.log(torch.tensor([[0.75, 0.25], [0.5, 0.5]], dtype=torch.float64))
    forward = -0.5 * math.log(0.75 * 2) - 0.5 * math.log(0.25 * 2)
    backward = 0.75 * math.log(0.75 * 2) + 0.25 * math.log(0.25 * 2)
    assert uniform_kl(logits).item() == pytest.approx(forward / 2)
    assert q_to_uniform_kl(logits).item() == pytest.approx(backward / 2)
    assert uniform_divergence(logits, "uniform_to_q") == uniform_kl(logits)
    assert uniform_divergence(logits, "q_to_uniform") == q_to_uniform_kl(logits)
    certain = torch.tensor([[80.0, -80.0]], dtype=torch.float64)
    assert q_to_uniform_kl(certain).item() == pytest.approx(math.log(2))
    assert uniform_kl(certain).item() > 50
    for loss in (uniform_kl, q_to_uniform_kl):
        assert torch.autograd.gradcheck(loss, torch.randn(3, 4, dtype=torch.float64).requires_grad_())


def test_squared_distance_sums_dimensions_and_averages_rows():
    left, right = torch.tensor([[0.0, 0.0], [1.0, 1.0]]), torch.tensor([[3.0, 4.0], [1.0, 2.0]])
    assert squared_distance(left, right).item() == (25 + 1) / 2


def test_virt_reads_the_shortcuts_it_is_given_in_place_of_its_imitation(batch):
    method = tiny_model("ssr_virt").method
    given = batch.shortcuts.clone()
    given[::2] = False
    none = replace(batch, shortcuts=torch.zeros_like(given))
    difference = method.unsupervised_loss(replace(batch, shortcuts=given), generator_for(0))["difference"]
    virtual = method.imitator.read(batch).pooled
    real = read_masked(method.imitator, batch, batch.shortcuts, "mix").pooled
    expected = uniform_kl(method.net.class_head(torch.where(given.any(-1)[:, None], real, virtual)))
    assert difference.item() == pytest.approx(expected.item(), rel=1e-5)
    assert difference.item() != method.unsupervised_loss(none, generator_for(0))["difference"].item()
    assert moved_by(method, difference) == {"net.class_head.weight", "net.class_head.bias"}


def test_virtual_shortcuts_move_the_imitator_and_the_difference_moves_only_w_p(batch):
    method = tiny_model("ssr_virt").method
    supervised = method.supervised_loss(batch, generator_for(0))
    virtual = moved_by(method, supervised["virtual"])
    assert virtual
    assert all(name.startswith("imitator.") for name in virtual)
    shortcut = moved_by(method, method.supervised_loss(batch, generator_for(0))["shortcut"])
    assert {"shortcut_head.weight", "shortcut_head.bias"} <= shortcut
    assert all(name.startswith(("imitator.", "shortcut_head.")) for name in shortcut)
    difference = moved_by(method, method.unsupervised_loss(batch, generator_for(0))["difference"])
    assert difference == {"net.class_head.weight", "net.class_head.bias"}


def test_without_shared_heads_the_difference_does_not_reach_the_predictor(batch):
    method = tiny_model("ssr_virt", shared_heads=False).method
    difference = moved_by(method, method.unsupervised_loss(batch, generator_for(0))["difference"])
    assert difference == {"own_head.weight", "own_head.bias"}


def test_the_frozen_imitator_is_bit_identical_after_unsupervised_steps(batch):
    method = tiny_model("ssr_virt").method.train()
    players = Players(method, TrainingConfig(weight_decay=0.1))
    supervised, unsupervised = method.phases()
    # A supervised step first, so that there is momentum that could move it.
    for phase in (supervised, unsupervised, unsupervised):
        turn = phase.turns[0]
        before = [p.clone() for p in players.groups["imitator"]]
        with players.unfreeze_only(turn.moves):
            sum(turn.loss(batch, generator_for(0)).values()).backward()
            players.step(turn.moves, 1.0)
        same = all(torch.equal(old, new) for old, new in zip(before, players.groups["imitator"], strict=True))
        assert same == (phase is unsupervised)


def test_augmented_copies_get_the_gold_phase_again():
    method = tiny_model("ssr_unif").method
    config = resolve_config(RunConfig(method="ssr_unif", augment={"kind": "random"}))
    phases = build_phases(method, config)
    assert [(phase.name, phase.pool) for phase in phases] == [
        ("supervised", "gold"),
        ("supervised_augmented", "augmented"),
        ("unsupervised", "rest"),
    ]


def test_the_imitator_starts_where_the_predictor_does():
    """Also from scratch: W_p is to judge what it says, so both must begin in the same space."""
    method = tiny_model("ssr_virt").method
    for name, value in method.net.encoder.state_dict().items():
        assert torch.equal(method.imitator.state_dict()[name], value), name
    assert not {id(p) for p in method.imitator.parameters()} & {id(p) for p in method.net.parameters()}
