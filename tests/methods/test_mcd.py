"""MCD: the selector never sees the label; the teacher learns first and is then left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from games import gradients, movers, reaches, turn_losses

from helpers import tiny_model


@pytest.fixture
def method():
    return tiny_model("mcd", pretrain=1).method


def test_the_teacher_learns_first_and_then_the_others_around_it(tmp_path):
    method = tiny_model("mcd", pretrain=2).method
    steps = movers(method, tmp_path, n=3)
    assert steps == [("pretrain", {"teacher"})] * 6 + [("distil", {"predictor", "selector"})] * 3


def test_the_selector_has_no_gradient_from_labels(method, batch):
    """Whatever the labels are, the selector is moved the same way; the predictor is not."""
    others = replace(batch, labels=1 - batch.labels)
    players = method.players()
    for name, player, same in (("select", "selector", True), ("predict", "predictor", False)):
        seen, instead = (
            gradients(sum(turn_losses(method, name, each).values()), players[player])
            for each in (batch, others)
        )
        assert any(gradient.any() for gradient in seen)
        assert all(torch.equal(a, b) for a, b in zip(seen, instead, strict=True)) is same


def test_the_label_teaches_the_predictor_alone(method, batch):
    players = method.players()
    [task] = turn_losses(method, "predict", batch).values()
    assert reaches(task, players["predictor"])
    assert not reaches(task, players["selector"])
    assert not reaches(task, players["teacher"])


def test_the_divergence_reaches_the_selector_and_not_the_teacher(method, batch):
    divergence = turn_losses(method, "select", batch)["divergence"]
    assert reaches(divergence, method.players()["selector"])
    assert not reaches(divergence, method.players()["teacher"])


@pytest.mark.parametrize("divergence", ["kl", "js"])
def test_nothing_is_missing_where_predictor_and_teacher_read_the_same(batch, divergence):
    method = tiny_model("mcd", divergence=divergence).method
    with torch.no_grad():
        method.net.select_head.weight.zero_()
        method.net.select_head.bias.copy_(torch.tensor([-50.0, 50.0]))
    assert turn_losses(method, "select", batch)["divergence"] > 1e-6
    method.net.encoder.load_state_dict(method.teacher.encoder.state_dict())
    method.net.class_head.load_state_dict(method.teacher.head.state_dict())
    assert turn_losses(method, "select", batch)["divergence"].abs() < 1e-6


def test_the_teacher_is_read_without_dropout(method, batch):
    """In training mode the predictor's noise stays, the target's does not."""
    seen = []
    method.train()
    original = method.teacher.read
    method.teacher.read = lambda batch: seen.append(original(batch)) or seen[-1]
    for seed in (1, 2):
        turn_losses(method, "select", batch, seed=seed)
    assert torch.equal(*seen)
    assert method.teacher.training


@torch.no_grad()
def test_the_full_text_is_the_teachers(method, batch):
    output = method.explain(batch)
    assert torch.equal(output.full_text, method.teacher.read(batch))
    assert torch.equal(output.logits, output.rationale)
    assert not torch.equal(output.logits, output.full_text)
