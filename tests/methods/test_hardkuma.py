"""HardKuma: closed forms reach the selector, multipliers hold the share and are kept, masks are read off by mode."""

from __future__ import annotations

from statistics import fmean

import pytest
import torch
from contract import losses_of, turns_of
from torch.autograd import grad

from helpers import learn, tiny_model
from rationalize.methods.hardkuma.hardkuma import HardKumaRationales
from rationalize.methods.hardkuma.kumaraswamy import make_hardkuma
from rationalize.models.losses import selected_share
from rationalize.models.weights import collect_weights


def losses(method, batch, seed=3):
    [(_, turn)] = turns_of(method)
    return losses_of(method, turn, batch, seed)


def test_everything_reaches_the_selector_and_limits_reach_nobody_else(batch):
    method = tiny_model("hardkuma", selection={"shared_encoder": False}).method
    players = method.net.players()
    for part, loss in losses(method, batch).items():
        assert grad(loss, method.net.select_head.weight, retain_graph=True)[0].any(), part
        others = grad(loss, players["predictor"], allow_unused=True, retain_graph=True)
        assert any(each is not None for each in others) == (part == "task"), part


def test_limits_do_not_depend_on_the_draw(batch):
    method = tiny_model("hardkuma").method
    first, second = losses(method, batch, seed=1), losses(method, batch, seed=2)
    assert first["task"] != second["task"]
    assert (first["sparsity"], first["continuity"]) == (second["sparsity"], second["continuity"])


def test_multipliers_rise_while_too_much_is_taken_and_fall_while_too_little(batch):
    for raw, rises in (((1.0, -1.0), True), ((-6.0, 6.0), False)):  # nearly all ones, nearly all zeros
        method = tiny_model("hardkuma", share_multiplier={"start": 0.01}).method.train()
        with torch.no_grad():
            method.net.select_head.weight.zero_()
            method.net.select_head.bias.copy_(torch.tensor(raw))
        start = method.share_multiplier.value.item()
        losses(method, batch)
        assert (method.share_multiplier.value.item() > start) == rises
        assert method.switch_multiplier.value.item() < start  # all alike: hardly a switch


def test_multipliers_are_saved_and_no_optimizer_moves_them():
    method = tiny_model("hardkuma").method
    held = {name for name in collect_weights(method) if "multiplier" in name}
    assert held == {
        f"{which}_multiplier.{what}" for which in ("share", "switch") for what in ("value", "average")
    }
    assert not held & {name for name, _ in method.named_parameters()}


@torch.no_grad()
def test_a_piece_is_left_out_only_where_zero_is_the_likeliest(batch):
    method = tiny_model("hardkuma", selection={"whole_words": False, "decoding": "argmax"}).method
    method.net.select_head.weight.mul_(30)
    kuma = make_hardkuma(method.net.select(batch))
    three = torch.stack([kuma.zero(), kuma.nonzero() - kuma.one(), kuma.one()], -1)
    output = method.explain(batch)
    assert torch.equal(output.mask, (three.argmax(-1) != 0) & batch.selectable)
    assert 0 < output.mask.sum() < batch.selectable.sum()
    assert (output.scores[output.mask] >= 0.5).all()


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@torch.no_grad()
def test_a_fresh_selector_takes_about_as_much_as_is_wanted(batch, share):
    kuma = make_hardkuma(tiny_model("hardkuma", selection={"share": share}).method.net.select(batch))
    taken = selected_share(kuma.nonzero(), batch.selectable).mean().item()
    assert taken == pytest.approx(share, rel=0.1)


@pytest.mark.slow
def test_the_share_is_held_from_the_first_step_on(tmp_path, monkeypatch):
    """Neither trap, everything or nothing, is come near to while the label is being learned."""
    shares, learn_step = [], HardKumaRationales.unsupervised_loss

    def watched(self, batch, generator):
        kuma = make_hardkuma(self.net.select(batch))
        shares.append(selected_share(kuma.nonzero(), batch.selectable).mean().item())
        return learn_step(self, batch, generator)

    monkeypatch.setattr(HardKumaRationales, "unsupervised_loss", watched)
    learn("hardkuma", tmp_path / "run", epochs=10, options={"selection": {"share": 0.2}})
    assert len(shares) == 50
    assert 0.1 < min(shares) < max(shares) < 0.4
    assert fmean(shares[-10:]) == pytest.approx(0.2, abs=0.05)


@pytest.mark.slow
def test_it_learns_the_labels_from_its_share(tmp_path):
    options = {"selection": {"share": 0.3}}
    _, display = learn("hardkuma", tmp_path / "run", epochs=15, options=options)  # 75 steps in all
    _, dev, _ = display.epochs[-1]
    assert dev["task_f1"] > 0.85
    assert dev["selected_fraction"] == pytest.approx(0.3, abs=0.1)
