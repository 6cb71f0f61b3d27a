"""FR, DR, MGR: one encoder, a brake, a choir."""

from __future__ import annotations

import pytest
import torch
from contract import counted_passes, losses_of, train_rows, turns_of
from games import reaches
from torch.nn import functional as F

from helpers import tiny_corpus, tiny_model, tiny_rows
from rationalize.config import TrainingConfig
from rationalize.errors import ConfigError


def losses(method, batch, seed=3):
    [(_, turn)] = turns_of(method)
    return losses_of(method, turn, batch, seed)


def one_step(method, folder, **settings):
    """Train one step on six rows; the largest change of each player's weights."""
    rows = tiny_rows(tiny_corpus(6))
    before = {name: [p.detach().clone() for p in group] for name, group in method.players().items()}
    fixed = {"epochs": 1, "batch_size": 6, "warmup": 0, "weight_decay": 0, "head_learning_rate": None}
    config = TrainingConfig(**fixed, **settings)
    folder.mkdir(exist_ok=True)
    train_rows(method, {"all": rows}, config, folder)
    return {
        name: max((new - old).abs().max().item() for old, new in zip(before[name], group, strict=True))
        for name, group in method.players().items()
    }


def test_fr_normalizes_what_either_head_reads(batch):
    method = tiny_model("fr").method.eval()
    net = method.net
    norm, head = net.class_head
    assert net.select_head[0] is norm
    assert net.selector_encoder is net.encoder
    with torch.no_grad():
        norm.weight.uniform_(0.5, 1.5)
        norm.bias.uniform_(-1, 1)
        reading = net.encoder.read(batch)
        width = reading.pooled.shape[-1:]
        expected = head(F.layer_norm(reading.pooled, width, norm.weight, norm.bias))
        torch.testing.assert_close(net.read(batch)[1], expected)
        hidden = F.layer_norm(reading.hidden, width, norm.weight, norm.bias)
        torch.testing.assert_close(net.select(batch), net.select_head[1](hidden))
    parts = losses(method, batch)
    assert reaches(parts["task"], [norm.weight])
    assert reaches(parts["sparsity"], [norm.weight])


@pytest.mark.parametrize(("name", "shared"), [("fr", False), ("dr", True), ("mgr", True)])
def test_the_wrong_sharing_of_encoders_is_refused(name, shared):
    with pytest.raises(ConfigError, match="shared_encoder"):
        tiny_model(name, selection={"shared_encoder": shared})


@pytest.mark.parametrize(
    ("selected", "selectable", "rate"),
    [(30, 100, 0.3), (5, 100, 0.05), (4, 100, 0.05), (1e-9, 100, 0.05), (0, 100, 1.0), (100, 100, 1.0)],
)
def test_drs_brake_is_the_share_with_a_floor(selected, selectable, rate):
    method = tiny_model("dr").method
    method._selected, method._selectable = selected, selectable
    assert method.rates() == {"predictor": pytest.approx(rate)}
    assert method.rates() == {"predictor": 1.0}, "the next step starts from nothing"


def test_drs_brake_is_of_the_mask_that_was_drawn(batch):
    method = tiny_model("dr", selection={"sampler": "gumbel_hard", "sparsity": "batch", "share": 0}).method
    share = losses(method, batch)["sparsity"].item()  # |share - 0|
    assert 0.05 < share < 1
    assert method.rates()["predictor"] == pytest.approx(share)


@pytest.mark.parametrize("micro_batch", [None, 2])
def test_drs_predictor_is_slowed_down_for_real(tmp_path, micro_batch):
    """Adam's first step is as long as its learning rate, whatever the gradient."""
    method = tiny_model("dr", floor=0.0).method
    rates = []
    original = method.rates
    method.rates = lambda: rates.append(original()) or rates[-1]
    moved = one_step(method, tmp_path / "run", learning_rate=1e-2, micro_batch=micro_batch)
    [rate] = rates
    assert 0.1 < rate["predictor"] < 0.9
    assert moved["selector"] == pytest.approx(1e-2, rel=1e-3)
    assert moved["predictor"] == pytest.approx(1e-2 * rate["predictor"], rel=1e-3)


def test_every_selector_of_mgr_learns_at_its_own_rate(tmp_path):
    method = tiny_model("mgr", selectors=3, spread=2.0).method
    assert method.rates() == {"predictor": 1 / 3, "selector_1": 3.0, "selector_2": 5.0}
    moved = one_step(method, tmp_path / "run", learning_rate=1e-3)
    expected = {"selector": 1e-3, "selector_1": 3e-3, "selector_2": 5e-3, "predictor": 1e-3 / 3}
    assert moved == pytest.approx(expected, rel=1e-3)


def test_mgrs_loss_is_the_sum_over_its_selectors(batch):
    """Three alike selectors that take everything: three times the loss of one."""
    parts = {}
    for n in (1, 3):
        method = tiny_model("mgr", selectors=n).method
        heads = [method.net.select_head, *(other.head for other in method.others)]
        assert len(heads) == n
        for head in heads:
            torch.nn.init.zeros_(head.weight)
            head.bias.data = torch.tensor([-90.0, 90.0])
        parts[n] = losses(method, batch)
    everything = F.cross_entropy(method.net.predict(batch, batch.selectable), batch.labels)
    torch.testing.assert_close(parts[3]["task"], 3 * everything)
    torch.testing.assert_close(parts[3]["sparsity"], 3 * parts[1]["sparsity"])
    assert parts[3]["sparsity"].item() == pytest.approx(3 * 0.8)


def test_every_selector_of_mgr_learns_from_the_label(batch):
    method = tiny_model("mgr").method
    task = losses(method, batch)["task"]
    for name, group in method.players().items():
        assert reaches(task, group), name


@torch.no_grad()
def test_mgr_explains_with_its_first_selector_alone(batch):
    method = tiny_model("mgr", selection={"decoding": "argmax"}).method
    before = method.explain(batch)
    for other in method.others:
        for weight in other.parameters():
            weight.add_(torch.ones_like(weight))
    after = method.explain(batch)
    assert torch.equal(before.mask, after.mask)
    assert torch.equal(before.logits, after.logits)
    method.net.select_head.bias.add_(torch.tensor([-90.0, 90.0]))
    assert torch.equal(method.explain(batch).mask, batch.selectable)
    with counted_passes(method) as passes:
        method.explain(batch)
    assert len(passes) == 2
