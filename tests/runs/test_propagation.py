"""Shortcuts that are carried over to the examples without annotation, in a whole run."""

from __future__ import annotations

from dataclasses import replace

import pytest
import runs_helpers as runs

from helpers import Listener, tiny_corpus
from rationalize.errors import ConfigError
from rationalize.files import read_json
from rationalize.runs._training_rows import to_rows
from rationalize.runs._workspace import Workspace
from rationalize.runs.build import build_untrained
from rationalize.runs.preparation import prepare_data
from rationalize.runs.run import train_first
from rationalize.runs.training_data import make_training_data
from rationalize.text.words import word_mask, word_spans
from rationalize.types import Span

FINDER = {"selection": {"decoding": "topk", "share": 0.5}}


def config(propagate="phrase", **changes):
    return runs.plain_config(
        "ssr_unif", shortcuts={"propagate": propagate, "finder": FINDER, "min_run": 2, **changes}
    )


def prepare(chosen, folder, data=None):
    """The run's data as training sees them."""
    data = data or runs.small_data(chosen)
    return prepare_data(Workspace(chosen, folder, Listener(), train_first), data)


def rest_of(data):
    return [example for example in data.train if example.id not in data.gold_ids]


def pools(chosen, data):
    text = build_untrained(chosen, data).engine().text
    return to_rows([text.encode(example, truncate=True) for example in data.train], data)


@pytest.mark.parametrize("kind", ["phrase", "nearest"])
def test_the_rest_gets_the_phrases_of_gold_and_nothing_else_changes(tmp_path, kind):
    before = prepare(config("none"), tmp_path / "off")
    after = prepare(config(kind), tmp_path / "on")
    gold = [[e for e in data.train if e.id in data.gold_ids] for data in (before, after)]
    assert gold[0] == gold[1]
    assert (before.dev, before.gold_ids) == (after.dev, after.gold_ids)
    assert [replace(e, shortcuts=None) for e in rest_of(after)] == rest_of(before)
    assert not any(row.shortcuts is not None for row in pools(config(), before)["rest"])
    carried = [row for row in pools(config(), after)["rest"] if row.shortcuts is not None]
    assert carried
    assert all(row.window.selectable[row.shortcuts].all() for row in carried)
    # The discovery itself is what it is without.
    files = sorted(path.name for path in (tmp_path / "off").glob("*.*"))
    assert files == ["shortcuts.json", "shortcuts.jsonl"]
    on, off = tmp_path / "on", tmp_path / "off"
    assert (on / "shortcuts.jsonl").read_bytes() == (off / "shortcuts.jsonl").read_bytes()
    numbers = read_json(on / "shortcuts.json")
    told = numbers.pop("propagated")
    assert numbers == read_json(off / "shortcuts.json")
    assert (told["kind"], told["n_examples"]) == (kind, len(rest_of(after)))
    assert told["n_with_shortcut"] == len(carried) > 0
    assert ("radius" in told) == (kind == "nearest")


def test_known_shortcuts_are_compared_with_but_never_trained_on(tmp_path):
    chosen = config()
    corpus = tiny_corpus(50)
    lied_to = [replace(example, shortcuts=(Span(0, 1),)) for example in corpus]
    true = make_training_data(chosen, corpus[:40], corpus[40:])
    gold = set(true.gold_ids)
    mixed = [a if a.id in gold else b for a, b in zip(corpus, lied_to, strict=True)]
    other = make_training_data(chosen, mixed[:40], corpus[40:])
    # By hand, so that nothing but the pipeline can keep the truth away.
    leaky = replace(true, train=tuple(corpus[:40]))
    seen = [
        prepare(chosen, tmp_path / name, data) for name, data in (("t", true), ("o", other), ("l", leaky))
    ]
    spans = [[example.shortcuts for example in rest_of(data)] for data in seen]
    assert spans[0] == spans[1] == spans[2]
    told = [read_json(tmp_path / name / "shortcuts.json")["propagated"]["against_truth"] for name in "to"]
    assert told[0] == by_hand(seen[0], {example.id: example.shortcuts for example in corpus})
    assert told[0] != told[1]
    off = prepare(config("none"), tmp_path / "off", leaky)
    assert {example.shortcuts for example in rest_of(off)} == {None}


def by_hand(data, truth):
    pairs = []
    for example in rest_of(data):
        words = word_spans(example.text)
        pairs += zip(word_mask(words, example.shortcuts), word_mask(words, truth[example.id]), strict=True)
    hits = sum(a and b for a, b in pairs)
    return {"precision": hits / sum(a for a, _ in pairs), "recall": hits / sum(b for _, b in pairs)}


def test_the_term_acts_in_the_unsupervised_phase_of_a_run(tmp_path):
    seen = {}
    for kind in ("none", "phrase"):
        steps = runs.run(config(kind, epochs=1), tmp_path / kind).steps
        seen[kind] = {part for phase, _, losses in steps[3:] if phase == "unsupervised" for part in losses}
    assert seen["phrase"] - seen["none"] == {"uniform"}


def test_with_every_example_annotated_there_is_nothing_to_carry_over_to(tmp_path):
    chosen = config()
    full = chosen.model_copy(update={"data": chosen.data.model_copy(update={"gold_share": 1.0})})
    with pytest.raises(ConfigError, match="every training example is annotated"):
        runs.run(full, tmp_path / "run")
    assert not (tmp_path / "run").exists()
