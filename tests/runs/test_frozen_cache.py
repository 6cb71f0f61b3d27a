"""Frozen layers read every full text once; what training makes of it stays the same."""

from __future__ import annotations

import pytest
import torch
from runs_helpers import plain_config, run

from helpers import tiny_corpus, tiny_model, tiny_rows
from rationalize.config import TrainingConfig
from rationalize.errors import ConfigError
from rationalize.models.frozen_states import FrozenStates
from rationalize.runs._frozen_cache import remember_frozen
from rationalize.runs.settings import check_layers
from rationalize.text.batch import collate
from rationalize.training.optim import Players

CONFIG = TrainingConfig(freeze_layers=2, cache_frozen=True)


@pytest.fixture
def rows():
    return tiny_rows(tiny_corpus(6))


def frozen_model(dropout=0.0, **selection):
    model = tiny_model("semi_rat", encoder={"layers": 3, "dropout": dropout}, selection=selection)
    Players(model.method, CONFIG)
    model.method.train()
    return model


def count_rows(encoder):
    """The rows that the first layer reads, call by call."""
    seen: list[int] = []
    encoder.model.encoder.layer[0].register_forward_hook(lambda _, inputs, out: seen.append(len(out)))
    return seen


def learn(method, batch):
    """Losses of both phases, and the gradients that they leave."""
    losses = {}
    for phase in method.phases():
        parts = phase.turns[0].loss(batch, torch.Generator().manual_seed(0))
        losses |= {f"{phase.name}.{name}": part for name, part in parts.items()}
    sum(losses.values()).backward()
    grads = {name: each.grad.clone() for name, each in method.named_parameters() if each.grad is not None}
    method.zero_grad()
    return losses, grads


@pytest.mark.parametrize(
    "selection",
    [{}, {"layers": 2}, {"layers": 3}, {"layers": 1}, {"shared_encoder": False, "layers": 3}],
    ids=str,
)
def test_losses_and_gradients_are_the_same_with_the_cache_and_without(tmp_path, rows, selection):
    model = frozen_model(**selection)
    batch = collate(rows, model.text.pad_id)
    losses, grads = learn(model.method, batch)
    with remember_frozen(CONFIG, model, {"all": rows}, tmp_path):
        again, same = learn(model.method, batch)
    assert losses.keys() == again.keys()
    assert grads.keys() == same.keys()
    for name in losses:
        torch.testing.assert_close(again[name], losses[name], rtol=1e-5, atol=1e-6)
    for name in grads:
        torch.testing.assert_close(same[name], grads[name], rtol=1e-4, atol=1e-6)


def test_frozen_layers_read_every_text_once_in_all_epochs_and_runs(tmp_path, rows):
    model = frozen_model(dropout=0.5, layers=2)
    read = count_rows(model.method.net.encoder)
    batch = collate(rows[:4], model.text.pad_id)
    pools = {"all": rows, "gold": rows[:3], "rest": [*rows[3:], rows[0]]}
    with remember_frozen(CONFIG, model, pools, tmp_path):
        assert sum(read) == len(rows)
        first, second = model.method.net.select(batch), model.method.net.select(batch)
        model.method.net.read(batch)
        assert torch.equal(first, second)  # no dropout below what learns
        assert sum(read) == len(rows)
    with remember_frozen(CONFIG, model, pools, tmp_path):
        assert sum(read) == len(rows)
    assert model.method.net.encoder.states is None


def test_other_weights_and_other_texts_have_files_of_their_own(tmp_path, rows):
    model = frozen_model()
    with remember_frozen(CONFIG, model, {"all": rows}, tmp_path):
        pass
    with remember_frozen(CONFIG, model, {"all": rows[:3]}, tmp_path):
        pass
    with torch.no_grad():
        model.method.net.encoder.model.encoder.layer[1].output.dense.bias += 1
    with remember_frozen(CONFIG, model, {"all": rows}, tmp_path):
        pass
    with torch.no_grad():  # what learns does not count
        model.method.net.encoder.model.encoder.layer[2].output.dense.bias += 1
    with remember_frozen(CONFIG, model, {"all": rows}, tmp_path):
        pass
    assert len(list(tmp_path.glob("frozen-*.npy"))) == 3


def test_a_text_that_is_not_kept_is_read_as_ever(tmp_path, rows):
    model = frozen_model().method.eval()
    whole = collate(rows, 0)
    with torch.no_grad():
        expected = model.net.select(whole)
        with remember_frozen(CONFIG, tiny := frozen_model(), {"all": rows[:2]}, tmp_path):
            assert isinstance(tiny.method.net.encoder.states, FrozenStates)
            assert tiny.method.net.encoder.states.find(whole) is None
            torch.testing.assert_close(tiny.method.eval().net.select(whole), expected)


def test_a_cache_without_frozen_layers_is_refused():
    config = plain_config(training={"cache_frozen": True})
    with pytest.raises(ConfigError, match="cache_frozen is set, but no layer is frozen"):
        check_layers(config)


def test_a_run_keeps_the_file_and_not_the_vectors(tmp_path):
    config = plain_config(training={"freeze_layers": 1, "cache_frozen": True, "epochs": 1, "cache": "off"})
    run(config, tmp_path / "run")
    assert len(list((tmp_path / "run/artifacts").glob("frozen-*.npy"))) == 1
