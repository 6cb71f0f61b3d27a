"""Augmented copies, with every method that reads gold rationales."""

from __future__ import annotations

import math

import pytest

from helpers import Listener, add_slow, tiny_corpus, tiny_run
from rationalize.methods.registry import list_names, method_class
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data

READ_GOLD = [name for name in list_names() if method_class(name).about.supervision != "none"]


SAMPLE = ("semi_rat", "at_bmc", "pipeline")


@pytest.mark.parametrize("name", add_slow(SAMPLE, [[name] for name in READ_GOLD if name not in SAMPLE]))
def test_copies_are_learned_from_like_the_originals(name, tmp_path):
    settings = {"training": {"epochs": 1}, "encoder": {"hidden_size": 16}}
    config = tiny_run(
        name, **settings, shortcuts={"source": "known"}, augment={"kind": "random", "share": 0.5}
    )
    corpus = tiny_corpus(30)
    heard = Listener()
    train(config, make_training_data(config, corpus[:24], corpus[24:]), tmp_path / "run", heard)
    losses = {phase: parts for phase, _, parts in heard.steps}
    copies = {phase: parts for phase, parts in losses.items() if phase.endswith("_augmented")}
    assert copies
    for phase, parts in copies.items():
        assert parts.keys() == losses[phase.removesuffix("_augmented")].keys()
        assert all(math.isfinite(value) for value in parts.values())
    assert (tmp_path / "run" / "artifacts" / "augmented-random-0.5.jsonl").read_text().count("\n") == 12
