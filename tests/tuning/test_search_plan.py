"""Search plans: ranges, choices, and refusals before anything is trained."""

from __future__ import annotations

import pytest

from rationalize.errors import ConfigError
from rationalize.tuning.search_plan import Dimension, SearchPlan, load_search_plan


def write(tmp_path, text):
    path = tmp_path / "space.yaml"
    path.write_text(text)
    return path


def test_a_plan_makes_the_config_of_a_trial(tmp_path):
    path = write(
        tmp_path,
        "preset: null\nsettings: {method: un_rat, training: {epochs: 2}}\n"
        "space:\n  training.learning_rate: {low: 1.0e-5, high: 1.0e-3, log: true}\n"
        "  options.selection.share: {low: 0.05, high: 0.3}\n  training.batch_size: {choices: [8, 16]}\n",
    )
    plan = load_search_plan(path, {"training.epochs": 3, "data.path": "there"})
    config = plan.make_config({"training.learning_rate": 2e-4, "options.selection.share": 0.2})
    assert (config.method, config.training.epochs, config.data.path) == ("un_rat", 3, "there")
    assert config.training.learning_rate == 2e-4
    assert config.options["selection"]["share"] == 0.2


@pytest.mark.parametrize(
    ("space", "words"),
    [
        ("{}", "at least one setting"),
        ("{training.epochs: {low: 3}}", "low and high, or choices"),
        ("{training.epochs: {low: 3, high: 2}}", "expected low < high"),
        ("{training.epochs: {choices: [3, 3]}}", "two or more different choices"),
        ("{training.epochs: {low: 0, high: 2, log: true}}", "low above 0"),
        ("{training.epochs: {low: 0, high: 4}}", "training.epochs: 0 cannot be tried"),
        ("{training.epoch: {low: 1, high: 4}}", "cannot be tried"),
        ("{options.nonsense: {low: 1, high: 4}}", "cannot be tried"),
        ("{seed: {choices: [1, 2]}}", "cannot be compared"),
        ("{data.gold_share: {low: 0.1, high: 0.5}}", "cannot be compared"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_anything_is_trained(tmp_path, space, words):
    with pytest.raises(ConfigError, match=words):
        load_search_plan(write(tmp_path, f"preset: null\nspace: {space}\n"))


def test_whole_numbers_and_places_on_an_axis():
    assert Dimension(low=1, high=4).is_whole
    assert not Dimension(low=1, high=4.0).is_whole
    assert Dimension(low=0.001, high=1, log=True).place(0.01) == pytest.approx(-2)
    assert Dimension(choices=("a", "b")).place("b") == 1
    assert SearchPlan(space={"training.epochs": Dimension(low=1, high=2)}).direction == "maximize"
