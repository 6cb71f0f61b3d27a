"""Settings: from YAML and overrides to one resolved config, with messages that help."""

from __future__ import annotations

import pytest
import yaml

from rationalize.config import RunConfig, differences, load_config, to_yaml
from rationalize.errors import ConfigError


def written(tmp_path, text):
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_need_no_file():
    config = load_config(None)
    assert config.method == "semi_rat"
    assert config.encoder.name == "minilm"
    assert config.options["selection"]["share"] == 0.2  # the method's own defaults are filled in


def test_overrides_win_over_the_file(tmp_path):
    path = written(tmp_path, "method: un_rat\ntraining:\n  epochs: 3\n  batch_size: 4\n")
    config = load_config(path, ["training.epochs=7", "options.selection.share=0.3", "seed=5", "data.dev=dev"])
    assert (config.method, config.training.epochs, config.training.batch_size) == ("un_rat", 7, 4)
    assert config.options["selection"]["share"] == 0.3
    assert (config.seed, config.data.dev) == (5, "dev")


def test_an_override_reaches_into_what_the_file_left_out(tmp_path):
    config = load_config(written(tmp_path, "seed: 1\n"), ["training.patience=2", "training.patience=null"])
    assert config.training.patience is None


@pytest.mark.parametrize("text", ["1e-4", "1E-4", "1.0e-4", "0.0001"])
def test_a_small_number_is_a_number(tmp_path, text):
    assert load_config(None, [f"training.learning_rate={text}"]).training.learning_rate == 1e-4
    path = written(tmp_path, f"training:\n  learning_rate: {text}\n")
    assert load_config(path).training.learning_rate == 1e-4
    options = load_config(None, [f"options.selection.sparsity_weight={text}"]).options
    assert options["selection"]["sparsity_weight"] == 1e-4


def test_whole_numbers_may_be_written_short():
    assert load_config(None, ["training.checkpoint_every=1e3"]).training.checkpoint_every == 1000


@pytest.mark.parametrize("name", ["nan", "inf", "infinity", "1_000x", "true love"])
def test_names_that_python_could_read_as_numbers_stay_names(name):
    assert load_config(None, [f"data.path={name}"]).data.path == name


@pytest.mark.parametrize("value", [".inf", ".nan", "-1", "0", "fast"])
def test_a_rate_is_a_positive_number(value):
    with pytest.raises(ConfigError, match=r"training\.learning_rate"):
        load_config(None, [f"training.learning_rate={value}"])


def test_an_unknown_setting_is_named_with_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match=r"training\.epoch: unknown\. Known here: .*batch_size.*epochs"):
        load_config(written(tmp_path, "training:\n  epoch: 3\n"))
    with pytest.raises(ConfigError, match=r"learning: unknown\. Known here: .*data.*method.*training"):
        load_config(None, ["learning=1"])
    with pytest.raises(ConfigError, match=r"options of un_rat.*\n.*selection\.shares: unknown.*share, "):
        load_config(None, ["method=un_rat", "options.selection.shares=1"])


def test_every_problem_is_told_at_once():
    with pytest.raises(ConfigError) as error:
        load_config(None, ["training.epochs=0", "data.gold_share=2", "encoder.pooling=max"])
    message = str(error.value)
    assert message.startswith("settings: 3 setting(s)")
    for part in ("training.epochs", "(got 0)", "data.gold_share", "(got 2)", "encoder.pooling", "'max'"):
        assert part in message


def test_an_unknown_method_is_told_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"method 'best' is unknown.*semi_rat.*un_rat"):
        load_config(None, ["method=best"])


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.epochs", "expected NAME=VALUE"),
        ("=3", "expected NAME=VALUE"),
        ("seed.inner=3", "'seed' is a single value"),
        ("seed=[1", "not valid YAML"),
    ],
)
def test_a_malformed_override_is_quoted(tmp_path, override, message):
    path = written(tmp_path, "seed: 1\n")
    with pytest.raises(ConfigError, match=message) as error:
        load_config(path, [override])
    assert override in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"), [("- a\n- b\n", "got list"), ("a: [", "not valid YAML"), ("just words", "got str")]
)
def test_a_file_that_is_no_config_is_named(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as error:
        load_config(path)
    assert str(path) in str(error.value)
    with pytest.raises(ConfigError, match=r"absent\.yaml: no such config file"):
        load_config(tmp_path / "absent.yaml")


def test_empty_files_and_sections_mean_the_defaults(tmp_path):
    assert load_config(written(tmp_path, "")) == load_config(None)
    path = written(tmp_path, "training:\n  # epochs: 3\n")
    assert load_config(path) == load_config(None)
    assert load_config(path, ["training.epochs=2"]).training.epochs == 2


def test_the_resolved_copy_reads_back_as_itself(tmp_path):
    config = load_config(
        None, ["method=sup_rat", "training.learning_rate=3e-5", "data.path=données/été.jsonl"]
    )
    text = to_yaml(config)
    assert load_config(written(tmp_path, text)) == config
    values = yaml.safe_load(text)
    assert values["training"]["learning_rate"] == 3e-5  # a number, not text
    assert values["training"].keys() == config.training.model_dump().keys()  # every default spelled out
    assert "été" in text


def test_a_config_cannot_be_changed_in_place():
    with pytest.raises(ValueError, match="frozen"):
        RunConfig().seed = 3


def test_differences_are_readable_lines():
    old = {"seed": 1, "training": {"epochs": 2, "patience": None}, "options": {"a": [1]}}
    new = {"seed": 1, "training": {"epochs": 3}, "options": {"a": [1], "b": "x"}}
    assert differences(old, new) == [
        "options.b: was '(absent)', now 'x'",
        "training.epochs: was 2, now 3",
        "training.patience: was None, now '(absent)'",
    ]
    assert differences(old, old) == []
    assert differences({"a": {"b": 1}}, {"a": 2}) == ["a: was {'b': 1}, now 2"]


def test_dev_may_be_called_by_its_other_names():
    for name in ("val", "valid", "validation", "dev"):
        assert load_config(None, [f"data.dev={name}"]).data.dev == "dev"
    assert load_config(None).data.dev == "dev"
