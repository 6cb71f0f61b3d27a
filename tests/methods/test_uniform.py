"""The term that asks for indecision on shortcuts: what it is, where it acts, and the one setting that weighs it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from helpers import tiny_batch, tiny_corpus, tiny_model, tiny_run
from rationalize.errors import ConfigError
from rationalize.methods.uniform import uniform_losses
from rationalize.models.losses import q_to_uniform_kl, uniform_kl
from rationalize.runs.preparation import needs_shortcuts
from rationalize.seeding import generator_for
from rationalize.training.phases import build_phases, collect_weights


@pytest.fixture
def batch():
    return tiny_batch(tiny_corpus(6))


def losses_in(pool: str, method, config, batch):
    """The loss parts of a run's phase over a pool."""
    [phase] = [phase for phase in build_phases(method, config) if phase.pool == pool]
    return phase.turns[0].loss(batch, generator_for(0))


def moved_by(method, loss: torch.Tensor) -> set[str]:
    method.zero_grad()
    loss.backward()
    return {name for name, p in method.named_parameters() if p.grad is not None and bool(p.grad.any())}


@pytest.mark.parametrize(
    ("direction", "divergence"), [("uniform_to_q", uniform_kl), ("q_to_uniform", q_to_uniform_kl)]
)
def test_it_sees_only_shortcuts_and_skips_rows_without(batch, direction, divergence):
    method = tiny_model("ssr_unif").method
    shown = method.label_from_mask(batch, batch.shortcuts)
    assert uniform_losses(method, batch, direction)["uniform"].item() == pytest.approx(
        divergence(shown).item()
    )
    half = batch.shortcuts.clone()
    half[::2] = False
    part = uniform_losses(method, replace(batch, shortcuts=half), direction)["uniform"]
    assert part.item() == pytest.approx(divergence(shown[1::2]).item(), abs=1e-5)
    assert uniform_losses(method, replace(batch, shortcuts=torch.zeros_like(half)), direction) == {}


def test_it_moves_the_predictor_and_not_the_selector_head(batch):
    method = tiny_model("ssr_unif").method
    moved = moved_by(method, losses_in("gold", method, tiny_run("ssr_unif"), batch)["uniform"])
    assert "net.class_head.weight" in moved
    assert not any("select_head" in name for name in moved)


def test_it_acts_on_shortcuts_carried_over_to_the_rest(batch):
    method, config = tiny_model("ssr_unif").method, tiny_run("ssr_unif", shortcuts={"propagate": "phrase"})
    carried = batch.shortcuts.clone()
    carried[::2] = False
    rest = replace(batch, shortcuts=carried, gold=torch.zeros_like(batch.gold))
    losses = losses_in("rest", method, config, rest)
    plain = losses_in("rest", method, config, replace(rest, shortcuts=torch.zeros_like(carried)))
    part = rest.rows(carried.any(-1))
    q = method.label_from_mask(part, part.shortcuts).double().softmax(-1)
    expected = (-math.log(2) - q.log().mean(-1)).mean()
    assert losses["uniform"].item() == pytest.approx(expected.item(), rel=1e-4)
    assert {name: loss.item() for name, loss in losses.items() if name != "uniform"} == {
        name: loss.item() for name, loss in plain.items()
    }
    moved = moved_by(method, losses_in("rest", method, config, rest)["uniform"])
    assert not any("select_head" in name for name in moved)
    # d KL(U ‖ q) / d logits = (q - 1/C) / rows, which is the gradient of the head's bias when summed.
    bias = dict(method.named_parameters())["net.class_head.bias"].grad
    assert bias.tolist() == pytest.approx((q - 0.5).mean(0).tolist(), abs=1e-5)


@pytest.mark.parametrize(
    ("method", "given", "weight"),
    [
        ("ssr_unif", None, 0.1),
        ("ssr_unif", 0.7, 0.7),
        ("ssr_unif", 0, 0),
        ("semi_rat", None, 0),
        ("semi_rat", 0.3, 0.3),
        ("sup_rat", 0.3, 0.3),
    ],
)
def test_one_setting_weighs_it_whoever_asks_for_it(batch, method, given, weight):
    config = tiny_run(method, shortcuts={"uniform_weight": given})
    assert config.shortcuts.uniform_weight == weight
    built = tiny_model(method).method
    assert collect_weights(built, config).get("uniform", 0) == weight
    pool = "all" if method == "sup_rat" else "gold"
    assert ("uniform" in losses_in(pool, built, config, batch)) == (weight > 0)
    assert needs_shortcuts(config) == (weight > 0 or method == "ssr_unif")


def test_its_direction_is_a_setting_of_the_run(batch):
    method = tiny_model("semi_rat").method
    shortcuts = {"uniform_weight": 0.3, "uniform_kl": "q_to_uniform"}
    found = losses_in("gold", method, tiny_run("semi_rat", shortcuts=shortcuts), batch)["uniform"]
    shown = method.label_from_mask(batch, batch.shortcuts)
    assert found.item() == pytest.approx(q_to_uniform_kl(shown).item())
    assert found.item() != pytest.approx(uniform_kl(shown).item())


@pytest.mark.parametrize("option", ["uniform_weight", "kl"])
def test_the_method_has_no_second_setting_for_it(option):
    with pytest.raises(ConfigError, match=f"{option}: unknown"):
        tiny_run("ssr_unif", options={option: 0.1})


def test_a_method_that_reads_no_gold_goes_without():
    config = tiny_run("un_rat", shortcuts={"uniform_weight": 0.3})
    method = tiny_model("un_rat").method
    assert [phase.turns for phase in build_phases(method, config)] == [
        phase.turns for phase in method.phases()
    ]
