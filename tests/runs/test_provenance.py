"""Where a model comes from: told truthfully, also after it was loaded and saved again."""

from __future__ import annotations

import pytest
from runs_helpers import plain_config, small_config, small_data

from helpers import Listener, tiny_model
from rationalize.config import PresetUse
from rationalize.files import read_json
from rationalize.reporting.card import render_card
from rationalize.runs.model_folder import load_model, save_model
from rationalize.runs.run import train

CONFIG = small_config(
    "ssr_unif", training={"warm_start": 1, "cache": "off"}, data={"name": "reviews", "gold_share": 0.5}
).model_copy(update={"seed": 7})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("provenance") / "run"
    data = small_data(CONFIG)
    return train(CONFIG, data, folder, Listener(), card=render_card), data, folder


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_model_knows_how_it_was_made(run):
    model, data, folder = run
    origin = model.config.provenance
    assert (origin.seed, origin.training.epochs, origin.training.warm_start) == (7, 3, 1)
    assert (origin.augment.kind, origin.shortcuts.min_run) == ("random", 1)
    assert (origin.data.name, origin.data.n_train, origin.data.n_dev, origin.data.n_gold) == (
        "reviews",
        40,
        10,
        20,
    )
    assert (origin.data.fingerprint, origin.data.gold_share) == (data.fingerprint(), 0.5)
    results = read_json(folder / "results.json")
    assert (origin.dev, list(origin.warnings)) == (results["dev"], results["warnings"])
    # Ten examples cannot show that the finder is better than chance.
    assert origin.warnings[-1].startswith("The finder is no better than chance")
    assert "The finder is no better than chance" in render_card(model.config)
    assert origin.device == "cpu"


def test_loaded_and_saved_again_every_byte_is_the_same(run, tmp_path):
    _, _, folder = run
    loaded = load_model(folder)
    save_model(tmp_path / "again", loaded, render_card(loaded.config))
    assert bytes_of(tmp_path / "again") == bytes_of(folder / "model")
    twice = load_model(tmp_path / "again")
    assert twice.config == loaded.config == run[0].config


def test_the_card_tells_it(run):
    card = (run[2] / "model" / "README.md").read_text(encoding="utf-8")
    assert "| Seed | 7 |" in card
    assert "reviews: 40 training examples, 20 of them with a gold rationale; 10 dev examples" in card
    assert "3 epochs, batches of 16" in card
    assert "random copies" in card
    for missing in ("Not described", "Not evaluated"):
        assert missing not in card


def test_nobody_learns_where_the_makers_cache_lies(run):
    assert run[0].config.provenance.training.cache == "auto"


def test_without_a_card_of_its_own_a_model_gets_a_plain_one(tmp_path):
    config = plain_config(training={"epochs": 1})
    config = config.model_copy(update={"preset": PresetUse(name="small", data="movies")})
    train(config, small_data(config), tmp_path / "run", Listener())
    lines = (tmp_path / "run" / "model" / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# semi_rat"
    assert len([line for line in lines if line]) == 2
    card = render_card(load_model(tmp_path / "run").config)
    assert "Preset small, with its part for movies." in card


def test_what_is_not_known_is_not_made_up():
    card = render_card(tiny_model("semi_rat").config)
    assert "| Seed |" not in card
    assert card.count("Not described.") == 2
    assert "Not evaluated." in card
