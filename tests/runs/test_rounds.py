"""More than one round of discovery: the trained method looks again."""

from __future__ import annotations

import pytest
import runs_helpers as runs

from rationalize.data.jsonl import read_jsonl
from rationalize.errors import ConfigError
from rationalize.files import read_json
from rationalize.runs.model_folder import load_model
from rationalize.shortcuts.finding import discover
from rationalize.text.words import word_mask, word_spans

SHORTCUTS = {
    "min_run": 2,
    "rounds": 2,
    "propagate": "phrase",
    "finder": {"selection": {"decoding": "topk", "share": 0.3}},
}


def config(**changes):
    changes = {
        "training": {"epochs": 2, "keep": "all"},
        "shortcuts": {**SHORTCUTS, **changes.pop("shortcuts", {})},
        **changes,
    }
    return runs.small_config("ssr_unif", options={"selection": {"decoding": "topk", "share": 0.5}}, **changes)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rounds") / "run"
    return folder, runs.run(config(), folder)


def words_of(path):
    return {
        example.id: word_mask(word_spans(example.text), example.shortcuts) for example in read_jsonl(path)
    }


def test_the_second_round_adds_what_the_trained_method_still_selects(two):
    artifacts = two[0] / "artifacts"
    first, second = (words_of(artifacts / f"shortcuts{which}.jsonl") for which in ("", "-2"))
    gold = list(read_jsonl(artifacts / "shortcuts.jsonl"))
    selected = discover(load_model(artifacts / "round-1" / "model").engine(), gold, min_run=2)
    new = {each.example.id: word_mask(word_spans(each.example.text), each.shortcuts) for each in selected}
    assert second == {id: [a or b for a, b in zip(first[id], new[id], strict=True)] for id in first}
    assert second != first
    for example in gold:
        marked = word_mask(word_spans(example.text), example.rationale)
        assert not any(a and b for a, b in zip(second[example.id], marked, strict=True))
    numbers = [read_json(artifacts / name) for name in ("shortcuts.json", "shortcuts-2.json")]
    assert numbers[1]["round"] == 2
    assert numbers[1]["before"]["n_with_shortcut"] == numbers[0]["n_with_shortcut"]
    assert numbers[1]["share_of_words"] > numbers[0]["share_of_words"]
    assert all({"against_truth", "propagated"} <= each.keys() for each in numbers)
    assert (artifacts / "augmented-random-0.25-2.jsonl").is_file()


def test_rounds_leave_no_lock_behind(two):
    assert not list(two[0].glob(".*.lock"))


def test_the_first_round_is_the_run_that_has_only_one(two, tmp_path):
    runs.run(config(shortcuts={"rounds": 1}), tmp_path / "one")
    alone, inside = runs.tree(tmp_path / "one"), runs.tree(two[0] / "artifacts")
    assert inside["shortcuts.jsonl"] == alone["artifacts/shortcuts.jsonl"]
    assert inside["propagated.jsonl"] == alone["artifacts/propagated.jsonl"]
    assert {name: inside[f"round-1/{name}"] for name in alone if name.startswith("model/")} == {
        name: digest for name, digest in alone.items() if name.startswith("model/")
    }


@pytest.mark.slow
def test_an_interrupted_round_goes_on_to_the_same_end(two, tmp_path):
    steps = two[1].steps
    starts = [index for index, (_, step, _) in enumerate(steps) if step == 1]
    assert len(starts) == 3  # the finder, round 1, round 2
    for at in (starts[1] + 3, starts[2] + 1):
        folder = tmp_path / str(at)
        runs.interrupt(config(), folder, at)
        runs.run(config(), folder, resume=True)
        assert runs.tree(folder) == runs.tree(two[0])


def test_known_shortcuts_need_no_second_round(tmp_path):
    with pytest.raises(ConfigError, match="has nothing to discover"):
        runs.run(config(shortcuts={"source": "known"}), tmp_path / "run")
    assert not (tmp_path / "run" / "artifacts").exists()
