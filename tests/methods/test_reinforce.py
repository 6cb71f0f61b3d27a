"""REINFORCE: the predictor learns from what was drawn, the selector from how well that went, the average is kept."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from contract import losses_of, turns_of
from torch.autograd import grad

from helpers import learn, tiny_model, tiny_run
from rationalize.models.policy import draw
from rationalize.models.weights import collect_weights
from rationalize.training._checkpoint import Checkpoints
from rationalize.training.optim import Players


def apart(**selection):
    return tiny_model("reinforce", selection={"shared_encoder": False, **selection}).method


def losses(method, batch, seed=3):
    [(_, turn)] = turns_of(method)
    return losses_of(method, turn, batch, seed)


def test_the_label_loss_teaches_the_predictor_alone_and_the_rest_the_selector_alone(batch):
    method = apart()
    players = method.net.players()
    for part, loss in losses(method, batch).items():
        for player, parameters in players.items():
            reached = grad(loss, parameters, allow_unused=True, retain_graph=True)
            taught = any(each is not None and each.any() for each in reached)
            assert taught == (player == ("predictor" if part == "task" else "selector")), (part, player)


def test_a_mask_that_cost_more_than_usual_is_made_less_likely(batch):
    """One step against the policy gradient alone moves the drawn mask's probability the right way."""
    one = batch.rows(slice(0, 1))
    for expected, sign in ((100.0, 1), (-100.0, -1)):
        method = apart()
        method.baseline.value.fill_(expected)
        logits = method.net.select(one)
        mask = draw(logits, torch.Generator().manual_seed(3)) * one.selectable
        before = chance_of(logits, mask, one)
        head = method.net.select_head.weight
        step = grad(losses(method, one)["policy"], head)[0]
        with torch.no_grad():
            head -= 1e-3 * step / step.norm()
        assert (chance_of(method.net.select(one), mask, one) - before).sign() == sign


def chance_of(logits, mask, batch):
    return logits.log_softmax(-1).gather(-1, mask.long()[..., None]).squeeze(-1)[batch.selectable].sum()


def test_what_can_be_known_exactly_does_not_depend_on_the_draw(batch):
    method = apart()
    first, second = losses(method, batch, seed=1), losses(method, batch, seed=2)
    assert first["task"] != second["task"]
    for part in ("sparsity", "continuity", "entropy"):
        assert first[part] == second[part]
    assert -math.log(2) <= first["entropy"] < 0


def test_the_expected_share_is_drawn_to_the_wanted_one(batch):
    for share, sign in ((0.05, 1), (0.95, -1)):
        method = apart(share=share)
        bias = method.net.select_head.bias
        push = grad(losses(method, batch)["sparsity"], bias)[0]
        assert push.sign().tolist() == [-sign, sign]  # down with "select" if too much is taken


def test_the_average_starts_at_knowing_nothing_follows_the_cost_and_is_saved(batch, tmp_path):
    method = apart(baseline_memory=0.5).train()
    assert method.baseline.value.item() == pytest.approx(math.log(2))
    cost = losses(method, batch)["task"].item()
    followed = method.baseline.value.item()
    assert followed == pytest.approx((math.log(2) + cost) / 2, rel=1e-5)
    assert "baseline.value" in collect_weights(method)
    players = Players(method, tiny_run("reinforce").training)
    checkpoints = Checkpoints(tmp_path, keep=1)
    checkpoints.save_best(method)
    fresh = apart()
    checkpoints.load_best(fresh)
    assert fresh.baseline.value.item() == followed
    assert not any("baseline" in name for name in players.names.values()), (
        "nothing to be moved by an optimizer"
    )


def test_explaining_and_validating_leave_the_average_alone(batch):
    method = apart().eval()
    losses(method, batch)
    method.explain(replace(batch))
    assert method.baseline.value.item() == pytest.approx(math.log(2))


@pytest.mark.slow
def test_it_learns_the_labels_from_the_words_it_selects(tmp_path):
    options = {"selection": {"share": 0.3}}
    _, display = learn("reinforce", tmp_path / "run", epochs=15, options=options)
    best = [dev for _, dev, best in display.epochs if best][-1]
    assert best["task_f1"] > 0.75
    assert 0 < best["selected_fraction"] < 0.6
