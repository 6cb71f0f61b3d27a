"""N2R: the selector looks for what comes out long, and only the selector."""

from __future__ import annotations

import math

import pytest
import torch
from games import movers, reaches, turn_losses

from helpers import tiny_batch, tiny_corpus, tiny_model
from rationalize.config import TrainingConfig
from rationalize.models.losses import log_norm
from rationalize.models.masking import read_masked
from rationalize.training.optim import Players


@pytest.fixture
def method():
    return tiny_model("n2r").method


def test_the_length_in_closed_form():
    vectors = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    expected = (math.log(5 + 1e-6) + math.log(1e-6)) / 2
    assert float(log_norm(vectors)) == pytest.approx(expected)
    vectors = torch.zeros(1, 3, requires_grad=True)
    log_norm(vectors).backward()
    assert vectors.grad.isfinite().all()


def test_norm_is_minus_the_log_of_the_length(method, batch):
    torch.nn.init.zeros_(method.net.select_head.weight)
    method.net.select_head.bias.data = torch.tensor([-90.0, 90.0])
    pooled = method.net.encoder.read(batch).pooled
    expected = -(pooled.square().sum(-1).sqrt() + 1e-6).log().mean()
    torch.testing.assert_close(turn_losses(method, "norm", batch)["norm"], expected)


@pytest.mark.parametrize("alone", [False, True])
def test_who_is_moved_by_what(batch, alone, tmp_path):
    method = tiny_model("n2r", label_for_selector=not alone).method
    turns = {turn.name: turn.moves for phase in method.phases() for turn in phase.turns}
    assert turns == {
        "play": ("predictor",) if alone else ("selector", "predictor"),
        "norm": ("selector",),
    }
    assert movers(method, tmp_path, n=2) == [("unsupervised", {"selector", "predictor"})] * 2
    parts, players = turn_losses(method, "play", batch), method.players()
    assert reaches(parts["task"], players["predictor"])
    assert reaches(parts["task"], players["selector"]) is not alone
    assert parts.keys() == ({"task"} if alone else {"task", "sparsity", "continuity"})
    assert turn_losses(method, "norm", batch).keys() == {"norm", "sparsity", "continuity"}


def test_the_length_does_not_look_at_labels_or_the_class_head(method, batch):
    norm = turn_losses(method, "norm", batch)["norm"]
    assert reaches(norm, method.players()["selector"])
    assert not reaches(norm, method.net.class_head.parameters())
    torch.testing.assert_close(turn_losses(method, "norm", batch.rows(slice(None)))["norm"], norm)


def test_following_the_loss_lengthens_the_vector(batch):
    method = tiny_model("n2r", encoder={"name": "gru"}).method
    players = Players(method, TrainingConfig(learning_rate=1e-2, weight_decay=0))
    before = {name: [weight.clone() for weight in group] for name, group in method.players().items()}
    values = []
    for _ in range(15):
        with players.unfreeze_only(("selector",)):
            loss = turn_losses(method, "norm", batch)["norm"]
            values.append(-loss.item())
            loss.backward()
            players.step(("selector",), 1.0)
    assert values[-1] > values[0] + 0.01
    pairs = zip(before["predictor"], method.players()["predictor"], strict=True)
    assert all(torch.equal(old, new) for old, new in pairs)


@pytest.mark.parametrize(
    ("encoder", "norm_of", "mean"),
    [
        ({"name": "tiny", "pooling": "cls"}, "auto", True),
        ({"name": "tiny", "pooling": "last"}, "auto", True),
        ({"name": "tiny", "pooling": "mean"}, "auto", True),  # pooled is the mean
        ({"name": "tiny", "pooling": "cls"}, "pooled", False),
        ({"name": "gru"}, "auto", False),
        ({"name": "gru"}, "mean", True),
    ],
)
@torch.no_grad()
def test_whose_length_counts(encoder, norm_of, mean):
    """A vector of one normalized or squashed piece always has about the same length."""
    method = tiny_model("n2r", encoder=encoder, norm_of=norm_of).method
    batch = tiny_batch(tiny_corpus(3))
    reading = read_masked(method.net.encoder, batch, batch.selectable, "mix")
    found = method.pool_vectors(reading, batch)
    by_hand = torch.stack([reading.hidden[row, there].mean(0) for row, there in enumerate(batch.attention)])
    torch.testing.assert_close(found, by_hand if mean else reading.pooled)
