"""Examples on disk are those in memory: one by one, in slices, chosen and changed; so are splits and samples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from data_strategies import many, plain_example
from hypothesis import given

from helpers import tiny_corpus
from rationalize.data import held_examples, splits
from rationalize.data.held_examples import ExampleFile, change_examples, hold_examples, select_examples
from rationalize.data.jsonl import write_jsonl
from rationalize.data.read_options import ReadOptions
from rationalize.data.readiness import choose_parts, hold_out
from rationalize.data.source import read_data
from rationalize.data.splits import choose_gold, limit, make_splits
from rationalize.types import Example, Span
from searches import search

CORPUS = tuple(tiny_corpus(60))


def strip(example):
    return replace(example, rationale=None)


@search(25)
@given(many(plain_example))
def test_any_example_comes_back_as_it_was(given_examples):
    held = ExampleFile(given_examples)
    assert list(held) == list(given_examples)
    assert [held[place] for place in range(len(held))] == list(given_examples)


def test_one_by_one_in_slices_chosen_and_changed(monkeypatch):
    monkeypatch.setattr(held_examples, "AT_ONCE", 7)
    held = hold_examples(iter(CORPUS), 60)
    assert isinstance(held, ExampleFile)
    assert hold_examples(iter(CORPUS), 61) == hold_examples(iter(CORPUS), None) == CORPUS
    assert (len(held), tuple(held), held[-1], held[3:9:2]) == (60, CORPUS, CORPUS[-1], list(CORPUS[3:9:2]))
    assert list(reversed(held)) == list(reversed(CORPUS))
    chosen = select_examples(held, [5, 1, 58])
    assert list(chosen) == [CORPUS[5], CORPUS[1], CORPUS[58]] == list(select_examples(CORPUS, [5, 1, 58]))
    assert list(change_examples(chosen, strip)) == [strip(CORPUS[place]) for place in (5, 1, 58)]
    both = zip(held, held, strict=True)  # loops do not disturb each other
    assert all(one == other for one, other in both)


def test_splits_samples_and_gold_are_those_in_memory(monkeypatch):
    monkeypatch.setattr(splits, "SPARE", 2)
    corpus = (*CORPUS, Example("copy", CORPUS[3].text.upper(), CORPUS[3].label))
    held = hold_examples(corpus, 0)
    made = {name: tuple(part) for name, part in make_splits(held).items()}
    assert made == make_splits(corpus)
    assert tuple(limit(held, 13, 4)) == limit(corpus, 13, 4)
    assert choose_gold(held, 0.3, 2) == choose_gold(corpus, 0.3, 2)
    for choose in (lambda part: hold_out(part, 3), lambda part: choose_parts({"posts": part}, "posts")):
        one, other = choose(held), choose(corpus)
        assert (tuple(one.train), tuple(one.dev), one.notes) == (other.train, other.dev, other.notes)


@pytest.mark.parametrize("changes", [{"drop_unlabeled": True}, {"partial_words": "drop"}])
def test_a_file_is_read_as_into_memory(tmp_path, changes):
    cut = Example("cut", "a good film", "POS", rationale=(Span(3, 7),))
    write_jsonl(tmp_path / "train.jsonl", [*CORPUS, cut, Example("none", "no label here")])
    held = read_data(tmp_path, ReadOptions(map_from=5, **changes))
    whole = read_data(tmp_path, ReadOptions(**changes))
    assert held_examples.is_on_disk(held["train"])
    assert tuple(held["train"]) == whole["train"]
    assert (held.notes, held.labels, repr(held)) == (whole.notes, whole.labels, repr(whole))
