"""Settings: validated sections, with messages that help."""

from __future__ import annotations

import pytest

from rationalize.config import RunConfig, validate
from rationalize.errors import ConfigError


def config(**sections):
    return validate(RunConfig, sections, "settings")


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1, 0, "fast"])
def test_a_rate_is_a_positive_number(value):
    with pytest.raises(ConfigError, match=r"training\.learning_rate"):
        config(training={"learning_rate": value})


def test_a_number_that_no_run_can_count_to_is_refused():
    with pytest.raises(ConfigError, match=r"training\.epochs.*at most 9223372036854775807"):
        config(training={"epochs": int("9" * 400)})


def test_an_unknown_setting_is_named_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"training\.epoch: unknown\. Known here: .*batch_size.*epochs"):
        config(training={"epoch": 3})
    with pytest.raises(ConfigError, match=r"learning: unknown\. Known here: .*data.*method.*training"):
        config(learning=1)


def test_every_problem_is_reported_at_once():
    with pytest.raises(ConfigError) as error:
        config(training={"epochs": 0}, data={"gold_share": 2}, encoder={"pooling": "max"})
    message = str(error.value)
    assert message.startswith("settings: 3 setting(s)")
    for part in ("training.epochs", "(got 0)", "data.gold_share", "(got 2)", "encoder.pooling", "'max'"):
        assert part in message


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:12", "mps"])
def test_a_device_is_one_of_a_few(device):
    assert config(device=device).device == device
    with pytest.raises(ConfigError, match="device"):
        config(device=f"{device}!")


def test_the_device_is_a_setting_of_the_run_alone():
    with pytest.raises(ConfigError, match=r"training\.device: unknown"):
        config(training={"device": "cpu"})


def test_a_config_cannot_be_changed_in_place():
    with pytest.raises(ValueError, match="frozen"):
        RunConfig().seed = 3


def test_dev_may_be_called_by_its_other_names():
    for name in ("val", "valid", "validation", "dev"):
        assert RunConfig.model_validate({"data": {"dev": name}}).data.dev == "dev"
    assert RunConfig().data.dev == "dev"
