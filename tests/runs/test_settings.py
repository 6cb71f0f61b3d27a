"""One resolved config: whatever it comes from, and everything in it that a method or the finder brings along."""

from __future__ import annotations

import pytest
import yaml
from runs_helpers import plain_config, run

from helpers import Listener, tiny_corpus, tiny_run
from rationalize.config import FinderSelection, RunConfig, to_yaml
from rationalize.errors import ConfigError, EncoderError
from rationalize.runs.run import train
from rationalize.runs.settings import (
    apply_settings,
    flatten_settings,
    identify,
    list_differences,
    load_config,
    read_settings,
    resolve_config,
)
from rationalize.runs.training_data import make_training_data


def written(tmp_path, text):
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_need_no_file():
    config = load_config()
    assert config.method == "semi_rat"
    assert config.encoder.name == "minilm"
    assert config.options["selection"]["share"] == 0.2  # the method's own defaults are filled in


def test_settings_win_over_the_file(tmp_path):
    path = written(
        tmp_path, "method: un_rat\ntraining:\n  epochs: 3\n  batch_size: 4\n  learning_rate: 1e-4\n"
    )
    config = load_config(path, {"training.epochs": 7, "options.selection.share": 0.3, "seed": 5})
    assert (config.method, config.training.epochs, config.training.batch_size) == ("un_rat", 7, 4)
    assert (config.options["selection"]["share"], config.seed) == (0.3, 5)
    assert config.training.learning_rate == 1e-4


@pytest.mark.parametrize("text", ["off", "'off'"])
def test_the_cache_can_be_off_without_quotes(tmp_path, text):
    assert load_config(written(tmp_path, f"training:\n  cache: {text}\n")).training.cache == "off"


def test_a_methods_own_settings_are_checked():
    with pytest.raises(ConfigError, match=r"options of un_rat.*\n.*selection\.shares: unknown.*share, "):
        load_config(None, {"method": "un_rat", "options.selection.shares": 1})
    with pytest.raises(ConfigError, match=r"method 'best' is unknown.*semi_rat.*un_rat"):
        load_config(None, {"method": "best"})
    with pytest.raises(ConfigError, match=r"shortcuts\.finder \(of un_rat\).*\n.*selection\.shares: unknown"):
        load_config(None, {"shortcuts.finder.selection.shares": 1})


def test_the_resolved_copy_reads_back_as_itself(tmp_path):
    config = load_config(
        None, {"method": "sup_rat", "training.learning_rate": 3e-5, "data.path": "données/été.jsonl"}
    )
    text = to_yaml(config)
    assert load_config(written(tmp_path, text)) == config == resolve_config(config)
    values = yaml.safe_load(text)
    assert values["training"]["learning_rate"] == 3e-5  # a number, not text
    assert values["training"].keys() == config.training.model_dump().keys()  # every default spelled out
    assert "été" in text


@pytest.mark.parametrize("method", ["semi_rat", "ssr_unif", "un_rat", "wsee"])
def test_resolving_again_changes_nothing_so_that_a_run_can_be_resumed(method):
    chosen = {} if method == "wsee" else {"options.selection.layers": 2, "options.selection.share": 0.3}
    once = load_config(None, {"method": method, **chosen})
    assert resolve_config(once) == once


def test_the_finder_follows_the_method_and_its_own_defaults_are_in_sight():
    given = {"options.selection.share": 0.35, "options.selection.masking": "zero"}
    found = load_config(None, {"method": "ssr_unif", **given}).shortcuts.finder.selection
    assert (found.share, found.masking) == (0.35, "zero")
    assert (found.sampler, found.decoding) == ("gumbel_hard", "topk")
    assert (FinderSelection().sampler, FinderSelection().decoding) == ("gumbel_hard", "topk")
    own = {"shortcuts.finder.selection.share": 0.1, "shortcuts.finder.selection.sampler": "gumbel_soft"}
    other = load_config(None, {"method": "ssr_unif", **given, **own}).shortcuts.finder.selection
    assert (other.share, other.masking, other.sampler) == (0.1, "zero", "gumbel_soft")
    # A method without a share of its own leaves un_rat's.
    assert load_config(None, {"method": "full_text"}).shortcuts.finder.selection.share == 0.2


def test_identity_is_what_is_computed_not_where_nor_how_often_it_is_saved():
    plain = identify(load_config())
    free = {"device": "cpu", "data.path": "x", "data.name": "movies", "training.keep": "all"}
    free |= {"training.cache": "off", "training.checkpoint_every": 3, "training.keep_checkpoints": 1}
    assert identify(load_config(None, free)) == plain
    assert identify(load_config(None, {"training.epochs": 3})) != plain


def test_a_preset_and_a_file_are_one_too_many(tmp_path):
    with pytest.raises(ConfigError, match="Give only one of them"):
        load_config(written(tmp_path, "seed: 1\n"), preset="small")


def test_settings_are_resolved_once_before_training(tmp_path, monkeypatch):
    """Whoever has no resolved config is told so; whoever has one keeps it."""
    with pytest.raises(ValueError, match="resolve_config first"):
        train(RunConfig(), None, tmp_path / "run", None)
    calls = []
    for module in ("settings", "_workspace", "warm_start"):
        monkeypatch.setattr(
            f"rationalize.runs.{module}.resolve_config",
            lambda config: calls.append(config) or resolve_config(config),
        )
    load_config(None, {"method": "un_rat"}, preset="small")
    assert len(calls) == 1
    run(plain_config(training={"epochs": 1}), tmp_path / "run")
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("field", "settings"),
    [
        ("options.selection.layers", {"options": {"selection": {"layers": 2}}}),
        ("training.freeze_layers", {"training": {"freeze_layers": 2}}),
    ],
)
def test_layers_that_are_not_there_are_refused_before_anything_is_trained(tmp_path, field, settings):
    config = tiny_run("un_rat", **settings)
    data = make_training_data(config, tiny_corpus(4), tiny_corpus(2))
    with pytest.raises(EncoderError, match="tiny has 1 layers") as caught:
        train(config, data, tmp_path / "run", Listener())
    assert caught.value.fields == (field,)
    assert not (tmp_path / "run").exists()


def test_settings_are_put_over_sections_and_change_nothing_in_place():
    sections = {
        "seed": 1,
        "training": {"epochs": 3, "batch_size": 4},
        "options": {"selection": {"share": 0.3}},
    }
    found = apply_settings(
        sections, {"training.epochs": 7, "options.selection.masking": "zero", "data.path": "x", "seed": 2}
    )
    assert found == {
        "seed": 2,
        "training": {"epochs": 7, "batch_size": 4},
        "options": {"selection": {"share": 0.3, "masking": "zero"}},
        "data": {"path": "x"},
    }
    assert sections["training"]["epochs"] == 3
    assert sections["options"] == {"selection": {"share": 0.3}}


@pytest.mark.parametrize("value", ["nan", "1_000x", "true", "3", None, 3.0, ["a"], {"b": 1}])
def test_a_value_stays_the_value_that_it_is(value):
    assert apply_settings({}, {"options.name": value}) == {"options": {"name": value}}


def test_a_single_value_has_no_settings_inside():
    with pytest.raises(ConfigError, match=r"seed\.inner: 'seed' is a single value"):
        apply_settings({"seed": 1}, {"seed.inner": 3})


@pytest.mark.parametrize(
    ("text", "message"), [("- a\n- b\n", "got list"), ("a: [", "not valid YAML"), ("just words", "got str")]
)
def test_a_file_that_is_no_config_is_named(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as error:
        read_settings(path)
    assert str(path) in str(error.value)
    with pytest.raises(ConfigError, match=r"absent\.yaml: no such config file"):
        read_settings(tmp_path / "absent.yaml")


def test_empty_files_and_sections_mean_the_defaults(tmp_path):
    assert read_settings(written(tmp_path, "")) == {}
    assert read_settings(written(tmp_path, "training:\n  # epochs: 3\nseed: 1\n")) == {"seed": 1}


def test_differences_are_readable_lines():
    old = {"seed": 1, "training": {"epochs": 2, "patience": None}, "options": {"a": [1]}}
    new = {"seed": 1, "training": {"epochs": 3}, "options": {"a": [1], "b": "x"}}
    assert list_differences(old, new) == [
        "options.b: was '(absent)', now 'x'",
        "training.epochs: was 2, now 3",
        "training.patience: was None, now '(absent)'",
    ]
    assert list_differences(old, old) == []
    assert list_differences({"a": {"b": 1}}, {"a": 2}) == ["a: was {'b': 1}, now 2"]


def test_flattened_settings_are_put_back_where_they_were():
    values = {"selection": {"share": 0.1, "masking": "zero"}, "pretrain": 2, "empty": {}}
    flat = flatten_settings(values, "options")
    assert flat["options.selection.share"] == 0.1
    assert apply_settings({}, flat) == {"options": values}
