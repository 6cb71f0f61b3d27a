"""What every method's losses, players and phases must be: one suite over all that are registered."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import torch
from contract import (
    SEED,
    SETTINGS,
    Setting,
    each_encoder,
    every_method,
    for_phase,
    losses_of,
    same_weights,
    scale_heads,
    train_rows,
    turns_of,
    without_gold,
)

from helpers import Listener, tiny_corpus, tiny_rows
from rationalize.config import TrainingConfig
from rationalize.methods.hooks import HearsLabels
from rationalize.methods.registry import list_names, method_class
from rationalize.runs.presets import fit_to_method
from rationalize.training.optim import Players
from rationalize.types import Example

# Those that keep nothing from step to step, and train as others do that are trained in every run of the tests.
SIBLINGS = {
    *("car", "dar", "fr", "full_text", "ib", "ib_semi", "inter_rat", "mgr", "mrd", "n2r", "pipeline", "rtp"),
    *("semi_rat", "ssr_virt", "sup_rat", "three_player", "unirex", "wsee"),
}


@every_method
def test_players_share_all_parameters_out(name):
    method = SETTINGS[0].method(name)
    counts = Counter(id(parameter) for group in method.players().values() for parameter in group)
    assert set(counts.values()) == {1}, "players overlap"
    assert counts.keys() == {id(parameter) for parameter in method.parameters() if parameter.requires_grad}


@every_method
def test_every_player_is_moved_and_every_name_is_used_once(name):
    method = SETTINGS[0].method(name)
    assert {player for _, turn in turns_of(method) for player in turn.moves} == method.players().keys()
    places = [(phase.name, turn.name) for phase, turn in turns_of(method)]
    assert len(places) == len(set(places))


@every_method
def test_every_weighted_part_appears_in_some_phase(name):
    method, batch = SETTINGS[0].method(name), SETTINGS[0].batch()
    parts = {
        part
        for phase, turn in turns_of(method)
        for part in losses_of(method, turn, for_phase(batch, phase, method))
    }
    assert method.weights().keys() <= parts


@each_encoder
@every_method
def test_every_part_is_a_number_that_teaches_someone_who_moves(name, setting):
    check_lessons(setting.method(name).train(), setting.batch(), TrainingConfig())


@every_method
def test_shallow_selection_and_frozen_layers_leave_every_part_something_to_teach(name):
    setting = Setting("tiny", 2, query=False, layers=3)
    shallow = fit_to_method({"options.selection.layers": 2}, name).settings
    method = setting.model(name, **({"selection": {"layers": 2}} if shallow else {})).method
    check_lessons(method.train(), setting.batch(), TrainingConfig(freeze_layers=1))


def check_lessons(method, batch, config):
    players = Players(method, config)
    for phase, turn in turns_of(method):
        with players.unfreeze_only(turn.moves) as moved:
            losses = losses_of(method, turn, for_phase(batch, phase, method))
            assert losses
            for part, loss in losses.items():
                assert loss.shape == (), part
                assert loss.isfinite(), part
                reached = torch.autograd.grad(loss, moved, allow_unused=True, retain_graph=True)
                assert any(gradient is not None for gradient in reached), f"{turn.name}.{part} reaches nobody"


@each_encoder
@every_method
def test_a_turn_moves_its_players_and_nobody_else(name, setting):
    method, batch = setting.method(name).train(), setting.batch()
    players = Players(method, TrainingConfig(weight_decay=0.1))
    # Everyone has momentum and something to decay before the turns are looked at one by one.
    for phase, turn in turns_of(method) * 2:
        before = [parameter.detach().clone() for parameter in method.parameters()]
        with players.unfreeze_only(turn.moves) as moved:
            losses = losses_of(method, turn, for_phase(batch, phase, method))
            sum(losses.values()).backward()
            movable = {id(parameter) for parameter in moved}
            for parameter in method.parameters():
                assert parameter.grad is None or id(parameter) in movable
            players.step(turn.moves, 1.0)
        changed = {
            id(new) for old, new in zip(before, method.parameters(), strict=True) if not torch.equal(old, new)
        }
        assert changed
        assert changed <= movable


@pytest.mark.parametrize(
    ("name", "setting", "stop"),
    [
        pytest.param(
            name,
            setting,
            stop,
            marks=pytest.mark.slow if name in SIBLINGS or setting.encoder == "gru" else (),
        )
        for name in list_names()
        for setting, stop in ((SETTINGS[1], 3), (SETTINGS[2], 1))
    ],
    ids=str,
)
def test_the_same_seed_trains_the_same_bytes_in_one_go_or_in_two(name, setting, stop, tmp_path):
    """Whatever a method keeps between steps must be in its weights, or be a function of the step."""
    untouched, whole, stopped, resumed = (setting.method(name) for _ in range(4))
    train(whole, tmp_path / "whole")
    with pytest.raises(Stopped):
        train(stopped, tmp_path / "halves", StopsAt(stop), save_every=stop)
    train(resumed, tmp_path / "halves", resume=True)
    assert same_weights(whole, resumed)
    assert not same_weights(whole, untouched)
    assert not same_weights(untouched, setting.method(name, seed=4))


@each_encoder
@every_method
def test_where_gold_may_not_be_seen_it_is_not_looked_at(name, setting):
    method, batch = setting.method(name), setting.batch()
    # Shortcuts may have been carried over to such a text; gold may not.
    batch = replace(batch, shortcuts=torch.zeros_like(batch.shortcuts))
    blind = [
        turn for phase, turn in turns_of(method) if phase.pool == "rest" or method.about.supervision == "none"
    ]
    for turn in blind:
        assert losses_of(method, turn, batch) == losses_of(method, turn, without_gold(batch))


@every_method
def test_a_part_is_the_mean_over_what_is_counted(name):
    """Micro-batches weighed by their counts give the value of the whole batch, whoever has gold and shortcuts."""
    setting = SETTINGS[0]
    sections = method_class(name).Config.model_fields
    options = {"supervision": {"positive_weight": 3.0}} if "supervision" in sections else {}
    method, batch = setting.model(name, **options).method, setting.batch()
    some = torch.tensor([True, False, False, True, True, True])[: len(batch), None]
    gold, shortcuts = batch.gold & some, batch.shortcuts & ~some.roll(1, 0)
    batch = replace(batch, gold=gold, has_gold=gold.any(-1), shortcuts=shortcuts)
    checked = set()
    for phase, turn in turns_of(method):
        seen = for_phase(batch, phase, method)
        pieces = [seen.rows(slice(start, start + 2)) for start in range(0, len(seen), 2)]
        whole, totals = losses_of(method, turn, seen), method.counts(seen)
        generator = torch.Generator().manual_seed(SEED)
        parts = [method(turn, piece, generator) for piece in pieces]
        for part in [each for each in whole if totals.get(each)]:
            shares = [method.counts(piece)[part] / totals[part] for piece in pieces]
            total = sum(share * said[part] for share, said in zip(shares, parts, strict=True) if share)
            torch.testing.assert_close(total, whole[part], msg=f"{phase.name}.{part}")
            checked.add(part)
    if method.about.supervision != "none":
        assert checked & {"select", "task"}


@each_encoder
@every_method
def test_extreme_texts_are_learned_from_in_numbers(name, setting):
    method = setting.method(name).train()
    for texts in ([""], ["dull"], ["dull", "", "☃ ☃☃", "a joy to watch " * 60]):
        batch = setting.batch([Example(text, text) for text in texts])
        check_finite(method, batch)
    check_finite(method, replace(batch, gold=batch.selectable, has_gold=batch.selectable.any(-1)))


@each_encoder
@every_method
def test_extreme_heads_learn_in_numbers(name, setting):
    method = setting.method(name).train()
    scale_heads(method, 1e4)
    check_finite(method, setting.batch())


def check_finite(method, batch):
    for phase, turn in turns_of(method):
        losses = losses_of(method, turn, for_phase(batch, phase, method))
        sum(losses.values()).backward()
        assert all(loss.isfinite() for loss in losses.values()), losses
        assert all(p.grad.isfinite().all() for p in method.parameters() if p.grad is not None)
        method.zero_grad()


class Stopped(Exception):
    """Training was interrupted."""


class StopsAt(Listener):
    """Interrupts training after a step, before it is saved."""

    def __init__(self, last):
        super().__init__()
        self.last = last

    def step(self, phase, step, losses):
        if step > self.last:
            raise Stopped


def train(method, folder, display=None, *, resume=False, save_every=100):
    """Two epochs of few real steps."""
    folder.mkdir(exist_ok=True)
    rows = [replace(row, environment=index % 2) for index, row in enumerate(tiny_rows(tiny_corpus(4)))]
    blind = [replace(row, gold=None) for row in rows]
    pools = {"all": blind if method.about.supervision == "none" else rows, "rest": blind}
    pools |= {phase.pool: rows for phase in method.phases() if phase.pool not in pools}
    if isinstance(method, HearsLabels):
        method.see_labels(torch.tensor([row.label for row in rows]))
    config = TrainingConfig(epochs=2, batch_size=2, checkpoint_every=save_every)
    train_rows(method, pools, config, folder, display, resume=resume)
