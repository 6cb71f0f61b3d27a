"""MRD: the predictor reads what is left, the selector makes that say as little as possible."""

from __future__ import annotations

import pytest
import torch
from games import movers, reaches, turn_losses
from torch.nn import functional as F

from helpers import tiny_model
from rationalize.models.masking import read_masked


@pytest.fixture
def method():
    return tiny_model("mrd").method


def take(method, everything):
    """Make the selector take everything, or nothing."""
    torch.nn.init.zeros_(method.net.select_head.weight)
    method.net.select_head.bias.data = torch.tensor([-90.0, 90.0] if everything else [90.0, -90.0])


@torch.no_grad()
def tell_whole_from_hidden(method, batch):
    """A class head that says 1 of whole texts and 0 of hidden ones, and is not too sure of it."""
    shown = (batch.selectable, torch.zeros_like(batch.selectable))
    whole, hidden = (read_masked(method.net.encoder, batch, mask, "mix").pooled.mean(0) for mask in shown)
    direction = 4 * (whole - hidden) / (whole - hidden).square().sum()
    middle = direction @ (whole + hidden) / 2
    method.net.class_head.weight.copy_(torch.stack([-direction, direction]) / 2)
    method.net.class_head.bias.copy_(torch.stack([middle, -middle]) / 2)


def test_both_players_move_on_every_batch(method, tmp_path):
    assert movers(method, tmp_path, n=3) == [("unsupervised", {"selector", "predictor"})] * 3


def test_each_turn_teaches_its_own_player(method, batch):
    players = method.players()
    for part, loss in turn_losses(method, "predict", batch).items():
        assert reaches(loss, players["predictor"]), part
        assert not reaches(loss, players["selector"]), part
    for part, loss in turn_losses(method, "select", batch).items():
        assert reaches(loss, players["selector"]), part


def test_the_discrepancy_is_minus_the_divergence_of_the_rest(method, batch):
    take(method, everything=True)
    with torch.no_grad():
        whole = method.net.predict(batch, batch.selectable).log_softmax(-1)
        rest = method.net.predict(batch, torch.zeros_like(batch.selectable)).log_softmax(-1)
    divergence = F.kl_div(rest, whole, reduction="batchmean", log_target=True)
    assert divergence > 0
    torch.testing.assert_close(turn_losses(method, "select", batch)["discrepancy"], -divergence)


def test_where_nothing_is_taken_nothing_is_missing(method, batch):
    take(method, everything=False)
    assert turn_losses(method, "select", batch)["discrepancy"].abs() < 1e-6
    parts = turn_losses(method, "predict", batch)
    torch.testing.assert_close(parts["complement"], parts["full_text"])
    expected = F.cross_entropy(method.net.predict(batch, batch.selectable), batch.labels)
    torch.testing.assert_close(parts["full_text"], expected)


def test_the_selector_maximizes(method, batch):
    """Following the loss downhill, the rest says less and less of what the whole said."""
    tell_whole_from_hidden(method, batch)
    optimizer = torch.optim.Adam(method.net.select_head.parameters(), lr=0.1)
    values = []
    for _ in range(15):
        loss = turn_losses(method, "select", batch)["discrepancy"]
        values.append(-loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert values[-1] > 1.2 * values[0] > 0


def test_the_target_is_read_without_noise(batch):
    method = tiny_model("mrd", encoder={"dropout": 0.5}).method.train()
    seen = []
    original = method.net.predict
    method.net.predict = lambda batch, mask: seen.append(original(batch, mask)) or seen[-1]
    for seed in (1, 2):
        turn_losses(method, "select", batch, seed=seed)
    assert torch.equal(seen[0], seen[2])
    assert not seen[0].requires_grad
    assert not torch.equal(seen[1], seen[3])
    assert method.net.training


def test_rationales_are_read_in_training_only_if_asked_for(batch):
    plain, reading = tiny_model("mrd").method, tiny_model("mrd", rationale_weight=0.5).method
    assert turn_losses(plain, "predict", batch).keys() == {"full_text", "complement"}
    assert "rationale" not in plain.weights()
    assert turn_losses(reading, "predict", batch).keys() == {"full_text", "complement", "rationale"}
    assert reading.weights()["rationale"] == 0.5
    take(reading, everything=True)
    parts = turn_losses(reading, "predict", batch)
    torch.testing.assert_close(parts["rationale"], parts["full_text"])


@torch.no_grad()
def test_the_full_text_is_reported_beside_the_label(method, batch):
    output = method.explain(batch)
    torch.testing.assert_close(output.full_text, method.net.read(batch)[1])
    torch.testing.assert_close(output.logits, method.net.predict(batch, output.mask))
