"""3Player: what the complement's reader sees, when it should fail, and rewards of drawn masks."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from contract import SETTINGS, hide_some, losses_of, scramble, some_mask, turns_of
from games import movers, reaches, turn_losses
from torch.nn import functional as F
from torch.testing import assert_close

from helpers import tiny_corpus, tiny_model
from rationalize.models.masking import complement
from rationalize.models.policy import explore
from rationalize.runs.model_folder import load_model, save_model
from rationalize.types import Example


@pytest.fixture
def method():
    return tiny_model("three_player").method


def test_c_learns_first_then_both_predictors_and_the_selector(tmp_path):
    method = tiny_model("three_player").method
    steps = movers(method, tmp_path, n=2)
    assert steps == [("pretrain", {"selector"})] * 2 + [("game", {"selector", "predictor", "opponent"})] * 2


def test_each_predictor_learns_from_its_own_reading(method, batch):
    parts, players = turn_losses(method, "predict", batch), method.players()
    for part, own, foreign in (("task", "predictor", "opponent"), ("rest", "opponent", "predictor")):
        assert reaches(parts[part], players[own])
        assert not reaches(parts[part], players[foreign])
        assert not reaches(parts[part], players["selector"])


def test_a_complement_is_the_rest_of_the_document_and_nothing_else():
    batch = SETTINGS[1].batch()
    mask = some_mask(batch)
    rest = complement(mask, batch)
    assert_close(rest + mask, batch.selectable.float())
    assert not (rest * mask).any()
    soft = torch.full(mask.shape, 0.3)
    assert_close(complement(soft, batch), 0.7 * batch.selectable)


@pytest.mark.parametrize("masking", ["mix", "zero", "attention"])
@pytest.mark.parametrize("encoder", ["tiny", "gru"])
@torch.no_grad()
def test_the_opponent_sees_what_was_not_selected_and_always_the_query(masking, encoder):
    method, batch, mask = hide_some("three_player", encoder, masking)
    selected_changed = scramble(batch, batch.selectable & ~mask)
    rest_changed = scramble(batch, mask)
    query_changed = replace(batch, input_ids=torch.where(batch.visible, 7, batch.input_ids))
    seen = method.label_from_rest(batch, mask)
    assert torch.equal(seen, method.label_from_rest(selected_changed, mask))
    assert not torch.equal(seen, method.label_from_rest(rest_changed, mask))
    assert not torch.equal(seen, method.label_from_rest(query_changed, mask))
    everything = method.label_from_rest(batch, batch.selectable)
    assert everything.isfinite().all()
    assert not torch.equal(everything, method.label_from_rest(query_changed, batch.selectable))


@pytest.mark.parametrize(("lead", "expected"), [(0.5, 0.0), (0.2, 0.1), (-1.0, 1.3)])
def test_the_hinge_wants_the_complement_worse_by_the_margin(batch, lead, expected, monkeypatch):
    """With L_c - L_p given, the hinge is max(0, h - lead)."""
    method = tiny_model("three_player", margin=0.3).method

    def with_loss(loss):
        """Logits whose cross-entropy is `loss`, for every row."""
        chance = torch.exp(torch.tensor(-loss))
        right = F.one_hot(batch.labels, 2)
        return (right * chance + (1 - right) * (1 - chance)).log()

    monkeypatch.setattr(method, "label_from_mask", lambda batch, mask: with_loss(1.5) + 0 * mask.sum())
    monkeypatch.setattr(method, "label_from_rest", lambda batch, mask: with_loss(1.5 + lead) + 0 * mask.sum())
    parts = turn_losses(method, "select", batch)
    assert_close(parts["task"], torch.tensor(1.5))
    assert_close(parts["hinge"], torch.tensor(expected))


def test_the_selector_works_against_the_complement(method, batch):
    """The hinge's gradient differs from L_p's: it also goes through what is left."""
    assert method.config.margin > 0
    parts = turn_losses(method, "select", batch)
    head = [method.selector.select_head.weight]
    [by_task], [by_hinge] = (
        torch.autograd.grad(parts[name], head, retain_graph=True) for name in ("task", "hinge")
    )
    assert by_hinge.any()
    assert not torch.allclose(by_task, by_hinge)


@torch.no_grad()
def test_the_guess_decides_what_is_selected(method, batch):
    selections = []
    for label in (0, 1):
        method.selector.class_head.bias.copy_(100.0 * F.one_hot(torch.tensor(label), 2))
        logits, guess = method.selector.read(batch)
        assert (guess.argmax(-1) == label).all()
        selections.append(logits)
    assert not torch.allclose(*selections)
    assert torch.equal(method.explain(batch).full_text, guess)


def test_part_of_the_target_may_be_the_guess(batch):
    """At a share of 1 the labels no longer matter."""
    others = replace(batch, labels=1 - batch.labels)
    for share, same in ((0.0, False), (1.0, True)):
        method = tiny_model("three_player", guess_share=share).method
        assert (turn_losses(method, "predict", batch) == turn_losses(method, "predict", others)) is same


def test_the_selectors_pace_is_its_own():
    method = tiny_model("three_player", selector_rate=0.1).method
    assert {turn.name: dict(turn.rates()) for _, turn in turns_of(method)} == {
        "read": {},
        "predict": {},
        "select": {"selector": 0.1},
    }


@pytest.mark.parametrize(
    ("predicted", "given_away", "reward"), [(1, 0, 1.3), (1, 1, 0.7), (0, 0, 0.0), (0, 1, -0.6)]
)
def test_the_reward_is_a_lead_over_the_complement(batch, predicted, given_away, reward, monkeypatch):
    method = tiny_model("three_player", reinforce=True, anti_weight=0.5).method

    def says(right):
        return lambda batch, mask: F.one_hot(batch.labels if right else 1 - batch.labels, 2).float()

    monkeypatch.setattr(method, "label_from_mask", says(predicted))
    monkeypatch.setattr(method, "label_from_rest", says(given_away))
    assert_close(method.reward(batch, batch.selectable.float()), torch.full((6,), reward))


def test_drawn_masks_are_made_likelier_by_what_they_earn_above_the_usual(batch, monkeypatch):
    """(b - R) · log p(z), by hand; the baseline is what it was before this batch, and then moves."""
    method = tiny_model("three_player", reinforce=True, exploration=0.2).method.train()
    method.selector.encoder.eval()
    rewards, seen = torch.tensor([1.3, 0.0, 0.1, 1.3, -1.1, 0.1]), []
    monkeypatch.setattr(method, "reward", lambda batch, mask: seen.append(mask) or rewards)
    method.baseline.value.fill_(-0.4)
    policy = turn_losses(method, "select", batch)["policy"]
    [mask] = seen
    assert set(mask.unique().tolist()) == {0.0, 1.0}
    logits, _ = method.selector.read(batch)
    chance = 0.8 * logits.softmax(-1)[..., 1] + 0.1
    taken = torch.where(mask.bool(), chance, 1 - chance).log() * batch.selectable
    assert_close(policy, ((-rewards + 0.4) * taken.sum(-1)).mean())
    assert_close(method.baseline.value, 0.9 * torch.tensor(-0.4) + 0.1 * -rewards.mean())


def test_with_reinforce_every_turn_still_teaches_and_the_baseline_is_saved(tmp_path):
    model = tiny_model("three_player", reinforce=True)
    method, batch = model.method, SETTINGS[0].batch()
    assert movers(method, tmp_path, n=4)[-1] == ("game", {"selector", "predictor", "opponent"})
    assert method.baseline.value != 0
    save_model(tmp_path / "model", model, "card")
    assert load_model(tmp_path / "model").method.baseline.value == method.baseline.value
    parts = turn_losses(method.train(), "select", batch)
    assert parts.keys() == method.weights().keys()
    assert all(reaches(part, method.players()["selector"]) for part in parts.values())


@pytest.mark.parametrize("text", ["", "dull", "a joy to watch " * 60])
def test_reinforce_stays_finite_on_extreme_texts(text):
    method = tiny_model("three_player", reinforce=True, exploration=0.0).method.train()
    with torch.no_grad():
        method.selector.select_head.weight.mul_(1e4)
    batch = SETTINGS[0].batch([Example("0", text), *tiny_corpus(1)])
    for _, turn in turns_of(method):
        loss = sum(losses_of(method, turn, batch).values())
        loss.backward()
        assert loss.isfinite()
    assert all(p.grad.isfinite().all() for p in method.parameters() if p.grad is not None)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5])
def test_exploring_mixes_in_even_chances(share):
    logits = torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mixed = explore(logits, share)
    assert_close(mixed.exp(), (1 - share) * logits.softmax(-1) + share / 2)
    assert_close(mixed.softmax(-1), mixed.exp())
