"""The loop: whose turn it is, what a step is made of, when it stops, and what it writes."""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import fields, replace

import pytest
import torch
from toys import Toy, per_row, rows, toy, trainer

from helpers import Listener, tiny_model
from rationalize.errors import TrainingError
from rationalize.methods.base import Phase
from rationalize.training._checkpoint import Checkpoints
from rationalize.training.loop import read_log


def test_a_cycle_takes_one_turn_per_batch_and_goes_on_across_epochs(tmp_path):
    method = toy("a", "b", "c", calendar="cycle")
    trainer(method, tmp_path, epochs=2).run(resume=False)  # five batches per epoch
    assert "".join(method.diary) == "abcab" + "cabca"


def test_each_takes_every_turn_on_every_batch(tmp_path):
    method, display = toy("a", "b"), Listener()
    trainer(method, tmp_path, display=display).run(resume=False)
    assert "".join(method.diary) == "ab" * 5
    assert [step for _, step, _ in display.steps] == [1, 2, 3, 4, 5]
    assert display.steps[0][2].keys() == {"a.distance", "b.distance"}


def two_phases(tmp_path, *, interleave):
    method, display = Toy(), Listener()
    turns = {name: method.turn(name) for name in "ab"}
    method._phases = (Phase("first", "all", (turns["a"],)), Phase("second", "few", (turns["b"],)))
    pools = {"all": rows(12), "few": rows(8)}
    trainer(method, tmp_path, pools=pools, epochs=3, interleave=interleave, display=display).run(resume=False)
    diary = "".join(method.diary)
    return [diary[start : start + 10] for start in range(0, 30, 10)]


def test_phases_follow_each_other(tmp_path):
    assert two_phases(tmp_path, interleave=False) == ["a" * 6 + "b" * 4] * 3


def test_interleave_mixes_the_phases_anew_every_epoch_and_always_alike(tmp_path):
    once, again = (two_phases(tmp_path / name, interleave=True) for name in ("once", "again"))
    assert once == again
    assert [Counter(epoch) for epoch in once] == [Counter(a=6, b=4)] * 3
    assert len(set(once)) == 3
    assert "a" * 6 + "b" * 4 not in once


def test_an_epoch_takes_its_share_of_every_phases_batches_others_each_time(tmp_path):
    method = Toy()
    turns = {name: method.turn(name) for name in "ab"}
    method._phases = (Phase("first", "all", (turns["a"],)), Phase("second", "few", (turns["b"],)))
    pools = {"all": rows(12), "few": rows(7)}
    made = trainer(method, tmp_path, pools=pools, epochs=3, epoch_share=0.5)
    taken = [[batch for _, batch in made._plan_epoch(epoch)] for epoch in range(3)]
    made.run(resume=False)
    assert "".join(method.diary) == ("a" * 3 + "b" * 2) * 3
    assert taken[0] != taken[1] != taken[2]


def gradients_of_first_step(made):
    seen = []

    def look(*_):
        seen.append([p.grad.clone() for p in made.method.parameters() if p.grad is not None])
        raise StopIteration

    made.players.step = look
    with pytest.raises(StopIteration):
        made.run(resume=False)
    return seen[0]


def test_small_backward_passes_add_up_to_the_gradient_of_the_whole_batch(tmp_path):
    blind = {"all": [replace(row, gold=None) for row in rows(10)]}  # leaves `task`, a mean over rows
    found = []
    for micro in (None, 4, 1):
        method = tiny_model("sup_rat", encoder={"dropout": 0.0}).method
        made = trainer(method, tmp_path / str(micro), pools=blind, batch_size=10, micro_batch=micro)
        found.append(gradients_of_first_step(made))
    for part in found[1:]:
        torch.testing.assert_close(part, found[0])


def test_parts_are_weighted_in_the_gradient_and_plain_in_the_log(tmp_path):
    def parts(batch, generator):
        left, right = per_row(method.left, batch).mean(), per_row(method.right, batch).mean()
        return {"strong": left, "plain": left, "ignored": right}

    method, display = Toy(weights={"strong": 3.0, "ignored": 0.0}), Listener()
    method._phases = (Phase("only", "all", (method.turn("a", ("left", "right"), parts),)),)
    lengths = torch.tensor([float(len(row.window)) for row in rows(10)])
    left, right = gradients_of_first_step(trainer(method, tmp_path / "looked at", batch_size=10))
    torch.testing.assert_close(left, 4 * 2 * (method.left.detach() - lengths.mean()))
    assert not right.any()
    plain = (method.left.detach()[None] - lengths[:, None]).square().sum(-1).mean().item()
    trainer(method, tmp_path / "run", batch_size=10, display=display).run(resume=False)
    [(_, _, logged)] = display.steps
    assert logged["strong"] == logged["plain"] == pytest.approx(plain)
    assert logged["ignored"] > 0


def test_the_norm_of_the_gradient_is_clipped(tmp_path):
    made = trainer(toy("a"), tmp_path, clip_norm=0.5)
    [gradient] = gradients_of_first_step(made)
    assert gradient.norm() == pytest.approx(0.5, rel=1e-4)


def broken_at(method, step, how):
    """A turn that is fine until it is not."""

    def loss(batch, generator):
        fine = method.distance(batch, generator)
        if len(method.diary) <= step:
            return fine
        if how == "loss":
            return {"distance": fine["distance"], "bad": fine["distance"] * math.nan}
        return {"distance": fine["distance"] + (0 * method.left).sqrt().sum()}  # 0, with an infinite slope

    method._phases = (Phase("only", "all", (method.turn("a", loss=loss),)),)
    return method


@pytest.mark.parametrize("how", ["loss", "gradient"])
def test_what_is_not_a_number_stops_training_before_it_reaches_the_weights(tmp_path, how):
    method = broken_at(Toy(), 4, how)
    made = trainer(method, tmp_path, epochs=3, checkpoint_every=1)
    with pytest.raises(TrainingError, match=r"step 5, phase only: .* nan.*checkpoints.*learning_rate"):
        made.run(resume=False)
    assert method.left.isfinite().all()
    again, said = Toy(), []
    state = Checkpoints(tmp_path / "checkpoints", 2).load_newest(
        again, trainer(again, tmp_path).players, said.append
    )
    assert state.step == 4
    assert not said
    assert torch.equal(again.left, method.left)


@pytest.mark.parametrize(
    ("scores", "epochs", "best"),
    [
        ([0.5, 0.5, 0.5, 0.5, 0.5], 3, 2),
        ([0.1, 0.2, 0.3, 0.4, 0.5], 5, 4),
        ([0.5, 0.4, 0.6, 0.1, 0.1], 5, 2),
        ([0.5, 0.4, 0.4, 0.9, 0.9], 3, 0),
        ([None, None, None, None, None], 5, 4),
    ],
)
def test_patience_counts_epochs_without_a_better_score(tmp_path, scores, epochs, best):
    display = Listener()
    state = trainer(toy("a"), tmp_path, epochs=5, patience=2, scores=scores, display=display).run(
        resume=False
    )
    assert (len(display.epochs), state.standing.best_epoch) == (epochs, best)
    assert bool(display.messages) == (epochs < 5)


@pytest.mark.parametrize(
    ("tasks", "scores", "best"),
    [
        ([0.50, 0.93, 0.94, 0.92], [0.61, 0.58, 0.60, 0.59], 2),  # the first selects best, but cannot decide
        ([0.90, 0.93, 0.94, 0.92], [0.61, 0.58, 0.60, 0.59], 0),
        ([0.90, 0.93, 0.70, 0.92], [0.50, 0.58, 0.99, 0.57], 1),  # too far behind when it comes
        ([0.90, 0.90, 0.90, 0.99], [0.50, 0.60, 0.70, 0.10], 2),
    ],
)
def test_an_epoch_that_falls_behind_in_the_task_is_not_chosen(tmp_path, tasks, scores, best):
    made = trainer(toy("a"), tmp_path, epochs=4, scores=scores, tasks=tasks)
    assert made.run(resume=False).standing.best_epoch == best


def test_the_best_weights_are_those_of_the_best_epoch(tmp_path):
    snapshots, method = [], toy("a")
    made = trainer(method, tmp_path, epochs=3, scores=[0.2, 0.9, 0.3])
    made.evaluate = lambda: (
        snapshots.append(method.left.detach().clone()) or {"epoch": float(made.state.epoch)}
    )
    made.run(resume=False)
    made.checkpoints.load_best(method)
    assert torch.equal(method.left, snapshots[1])
    assert not torch.equal(snapshots[1], snapshots[2])


def test_the_log_says_what_was_learned_and_never_when(tmp_path):
    trainer(toy("a"), tmp_path, epochs=2, log_every=2, scores=[0.1, 0.2]).run(resume=False)
    log = read_log(tmp_path / "metrics.jsonl")
    assert [row["step"] for row in log] == [2, 4, 5, 6, 8, 10, 10]
    assert [set(row) for row in log if "epoch" not in row] == [{"step", "phase", "losses"}] * 5
    assert [set(row) for row in log if "epoch" in row] == [{"step", "epoch", "losses", "dev", "best"}] * 2


def test_the_log_of_an_epoch_has_the_mean_of_its_steps(tmp_path):
    display = Listener()
    trainer(toy("a"), tmp_path, epochs=2, display=display).run(resume=False)
    *_, last = read_log(tmp_path / "metrics.jsonl")
    seen = [losses["distance"] for _, step, losses in display.steps if step > 5]
    assert last["losses"] == {"only.distance": pytest.approx(sum(seen) / 5)}


def test_noise_is_keyed_by_step_and_ambient_randomness_is_left_alone(tmp_path):
    drawn = []

    def noisy(batch, generator):
        drawn.append((torch.rand(1, generator=generator).item(), torch.rand(1).item()))
        return method.distance(batch, generator)

    method = Toy()
    method._phases = (Phase("only", "all", (method.turn("a", loss=noisy), method.turn("b", loss=noisy))),)
    ambient = torch.get_rng_state()
    trainer(method, tmp_path / "one").run(resume=False)
    torch.rand(7)
    trainer(method, tmp_path / "two").run(resume=False)
    assert len(set(drawn[:10])) == 10, "two turns or steps drew the same noise"
    assert drawn[:10] == drawn[10:]
    torch.set_rng_state(ambient)
    trainer(method, tmp_path / "three", seed=6).run(resume=False)
    assert torch.equal(torch.get_rng_state(), ambient)
    assert not set(drawn[20:]) & set(drawn[:10])


def test_a_phase_without_examples_is_passed_over(tmp_path):
    method = Toy()
    method._phases = (Phase("empty", "none", (method.turn("a"),)), Phase("full", "all", (method.turn("b"),)))
    trainer(method, tmp_path, pools={"none": [], "all": rows(4)}).run(resume=False)
    assert method.diary == ["b", "b"]


def test_weights_and_batches_are_on_the_device_that_was_chosen(tmp_path):
    seen = []

    def look(batch, generator):
        seen.extend(getattr(batch, field.name).device.type for field in fields(batch))
        raise StopIteration

    method = Toy()
    method._phases = (Phase("only", "all", (method.turn("a", loss=look),)),)
    made = trainer(method, tmp_path, device="meta")
    with pytest.raises(StopIteration):
        made.run(resume=False)
    assert {parameter.device.type for parameter in made.method.parameters()} == set(seen) == {"meta"}


READS = ("item", "tolist", "cpu", "numpy", "__bool__", "__float__", "__int__", "__index__")
"""What makes Python wait for a tensor's value."""


def count_waits(made, monkeypatch):
    """How often each step of an epoch waits for values; not what transformers looks up, once in a pass (padding)."""
    waits, steps = Counter(), []

    def watch(name):
        usual = getattr(torch.Tensor, name)

        def read(tensor, *args, **kwargs):
            waits["all"] += "transformers" not in sys._getframe(1).f_code.co_filename
            return usual(tensor, *args, **kwargs)

        monkeypatch.setattr(torch.Tensor, name, read)

    def run_batch(*given):
        before = waits["all"]
        losses = usual_batch(*given)
        steps.append(waits["all"] - before)
        return losses

    def stop():
        raise StopIteration

    usual_batch = made._run_batch
    made._run_batch, made._close_epoch = run_batch, stop
    for name in READS:
        watch(name)
    with pytest.raises(StopIteration):
        made.run(resume=False)
    return steps


@pytest.mark.parametrize("micro", [None, 1])
def test_an_update_waits_for_the_device_once(tmp_path, monkeypatch, micro):
    """For the losses and the norm of the gradient together, before anything reaches the weights."""
    made = trainer(toy("a", "b"), tmp_path, batch_size=5, micro_batch=micro)
    made.method.counts = lambda batch: {}  # which a method counts itself
    assert count_waits(made, monkeypatch) == [2, 2]


@pytest.mark.parametrize(
    ("name", "options", "waits"),
    [
        ("un_rat", {}, 2),  # also: whether the mask hides a whole row
        ("un_rat", {"selection": {"layers": 1}}, 2),
        (
            "un_rat",
            {"selection": {"masking": "attention", "sampler": "gumbel_hard"}},
            3,
        ),  # and whether it is hard
        ("sup_rat", {}, 2),  # also: whether any row has gold
    ],
)
def test_a_step_waits_for_what_is_listed_and_nothing_else(tmp_path, monkeypatch, name, options, waits):
    # A mode around the encoder's pass would hide who asks.
    monkeypatch.setattr("rationalize.models.encoder_pass.has_slow_products", lambda: False)
    made = trainer(tiny_model(name, **options).method, tmp_path, batch_size=5)
    assert count_waits(made, monkeypatch) == [waits, waits]
