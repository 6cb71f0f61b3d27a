"""The method in CONTRIBUTING is a method: it is run through everything that the others are."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import test_contract
import test_contract_training
import test_passes
from contract import SETTINGS

from helpers import Listener, tiny_corpus, tiny_run
from rationalize.methods import registry
from rationalize.methods.describing import describe_method
from rationalize.runs.model_folder import load_model
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
NAME = "open_choice"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The example as the module of another package, offered by an entry point and forgotten afterwards."""
    section = CONTRIBUTING.read_text(encoding="utf-8").split("## A new method\n")[1].split("\n## ")[0]
    example = section.split("```python\n")[1].split("```")[0]
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / f"{NAME}.py").write_text(example, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "code")
    monkeypatch.setattr(
        registry, "_METHODS", {name: registry.method_class(name) for name in registry.list_names()}
    )
    offered = SimpleNamespace(load=lambda: import_module(NAME))
    monkeypatch.setattr(
        registry.metadata, "entry_points", lambda group: [offered] * (group == "rationalize.methods")
    )
    registry._discover.cache_clear()
    yield registry.method_class(NAME)
    sys.modules.pop(NAME)


GIVEN = {"name": NAME, "setting": SETTINGS[1], "options": {}, "stop": 3}
CHECKS = {
    name: check
    for module in (test_contract, test_contract_training, test_passes)
    for name, check in vars(module).items()
    if name.startswith("test_")
    if "name" in inspect.signature(check).parameters.keys() <= GIVEN.keys() | {"tmp_path"}
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_it_keeps_the_contract(installed, check, tmp_path):
    given = {**GIVEN, "tmp_path": tmp_path}
    check(**{name: given[name] for name in inspect.signature(check).parameters})


def test_the_contract_is_not_empty():
    assert len(CHECKS) > 20


def test_it_is_listed_trained_and_loaded(installed, tmp_path):
    assert NAME in registry.list_names()
    settings = {row.name: row for row in describe_method(NAME).settings}
    assert settings["options.entropy_weight"].meaning == "λ_H."
    corpus = tiny_corpus(20)
    config = tiny_run(NAME, training={"epochs": 1, "batch_size": 4}, options={"entropy_weight": 0.5})
    display = Listener()
    train(config, make_training_data(config, corpus[:16], corpus[16:]), tmp_path / "run", display)
    assert {"task", "sparsity", "continuity", "entropy"} == display.steps[-1][2].keys()
    [found] = load_model(tmp_path / "run" / "model").engine().explain(corpus[:1])
    assert found.explanation.method == NAME
