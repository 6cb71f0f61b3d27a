"""What a run learns from: who keeps gold, which pool they are in, and when two data sets are the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import tiny_corpus, tiny_run, tiny_tokenizer
from rationalize.errors import DataError
from rationalize.runs._training_rows import describe_long_texts, to_rows
from rationalize.runs.training_data import make_training_data
from rationalize.text.windows import TextEncoder
from rationalize.types import Span

CORPUS = tiny_corpus(30)
TRAIN, DEV = CORPUS[:20], CORPUS[20:]


def data_for(method, train=TRAIN, dev=DEV, **data):
    return make_training_data(tiny_run(method, data=data), train, dev)


def pools_of(data):
    text = TextEncoder(tiny_tokenizer(), 64)
    return to_rows([text.encode(example, truncate=True) for example in data.train], data)


@pytest.mark.parametrize(("method", "n_gold"), [("un_rat", 0), ("semi_rat", 5), ("sup_rat", 20)])
def test_a_method_sees_the_gold_that_it_says_it_learns_from(method, n_gold):
    data = data_for(method)
    assert len(data.gold_ids) == n_gold
    assert {example.id for example in data.train if example.rationale} == set(data.gold_ids)
    assert all(example.rationale for example in data.dev), "dev keeps its gold for scoring"


def test_pools_are_by_gold_and_rows_of_the_rest_carry_none():
    data = data_for("semi_rat")
    pools = pools_of(data)
    ids = {name: {row.id for row in rows} for name, rows in pools.items()}
    assert ids["gold"] == set(data.gold_ids)
    assert ids["gold"] | ids["rest"] == ids["all"] == {example.id for example in TRAIN}
    assert not ids["gold"] & ids["rest"]
    assert all(row.gold is not None and row.gold.any() for row in pools["gold"])
    assert all(row.gold is None for row in pools["rest"])


def of_one_class(rationale):
    """The corpus with gold in POS alone; NEG has this rationale."""
    return [each if each.label == "POS" else replace(each, rationale=rationale) for each in TRAIN]


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_an_empty_rationale_is_a_lesson_in_selecting_nothing(share):
    data = data_for("semi_rat", of_one_class(()), gold_share=share)
    pools = pools_of(data)
    gold = {label: [row.gold.any() for row in pools["gold"] if row.label == label] for label in (0, 1)}
    assert gold[0], "NEG is annotated"
    assert not any(gold[0]), "and nothing is marked"
    assert gold[1]
    assert all(gold[1])
    assert any("nothing is marked in any NEG example" in note for note in data.notes)


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_no_phase_sees_one_label_only(share):
    data = data_for("semi_rat", of_one_class(None), gold_share=share)
    pools = pools_of(data)
    for name in ("gold", "rest"):
        assert {row.label for row in pools[name]} == {0, 1}, name
    assert all(row.gold is None for row in pools["gold"] if row.label == 0), "not annotated: the label alone"
    assert all(row.gold is None for row in pools["rest"])
    assert any("no NEG example is annotated" in note for note in data.notes)


@pytest.mark.parametrize("method", ["semi_rat", "ssr_virt"])
def test_where_everything_is_annotated_the_rest_is_everything_without_its_gold(method):
    pools = pools_of(data_for(method, gold_share=1.0))
    assert len(pools["gold"]) == len(pools["rest"]) == len(TRAIN)
    assert all(row.gold is None for row in pools["rest"])


def test_how_much_gold_is_used_is_said():
    assert "5 of 20 gold rationales are used (data.gold_share is 0.25)" in data_for("semi_rat").notes
    assert not data_for("sup_rat").notes


def test_labels_are_numbered_in_alphabetical_order():
    data = data_for("un_rat")
    assert data.labels == ("NEG", "POS")
    assert {row.label for row in pools_of(data)["all"] if int(row.id[1:]) % 2} == {1}


def test_the_fingerprint_is_of_everything_and_of_nothing_else():
    data = data_for("semi_rat")
    first = data.dev[0]
    changed = [
        replace(data, dev=(replace(first, **change), *data.dev[1:]))
        for change in (
            {"id": "x"},
            {"text": first.text + " "},
            {"label": "POS"},
            {"query": "well ?"},
            {"rationale": ()},
            {"rationale": None},
            {"shortcuts": None},
        )
    ]
    changed += [
        replace(data, train=data.train[::-1]),
        replace(data, train=data.train[:-1], dev=(data.train[-1], *data.dev)),
        replace(data, use_query=not data.use_query),
        replace(data, gold_ids=data.gold_ids[1:]),
        replace(data, labels=("POS", "NEG")),
    ]
    assert len({data.fingerprint(), *(each.fingerprint() for each in changed)}) == len(changed) + 1
    assert data.fingerprint() == replace(data_for("semi_rat"), notes=("something",)).fingerprint()


def test_without_a_dev_split_some_training_examples_are_set_aside():
    data = make_training_data(tiny_run("un_rat"), TRAIN)
    assert len(data.dev) == 4
    assert not {example.id for example in data.dev} & {example.id for example in data.train}
    assert any("4 training examples were set aside" in note for note in data.notes)


@pytest.mark.parametrize(
    ("method", "train", "dev", "settings", "error", "words"),
    [
        ("semi_rat", TRAIN, DEV, {"gold_share": 0.0}, DataError, "gold_share is 0"),
        ("sup_rat", [replace(e, rationale=None) for e in TRAIN], DEV, {}, DataError, "none of the 20"),
        ("pipeline", of_one_class(()), DEV, {}, DataError, "nothing is marked in any NEG"),
        ("pipeline", of_one_class(None), DEV, {}, DataError, "use sup_rat"),
        ("un_rat", TRAIN[::2], DEV, {}, DataError, r"1 class\(es\) \(NEG\)"),
        ("un_rat", TRAIN, [replace(DEV[0], label="odd")], {}, DataError, "odd"),
        ("un_rat", TRAIN, [replace(DEV[0], label=None)], {}, DataError, "dev example 'r20' has no label"),
        ("un_rat", TRAIN, [], {}, DataError, "no dev example"),
    ],
)
def test_data_that_cannot_be_learned_from_are_refused(method, train, dev, settings, error, words):
    with pytest.raises(error, match=words):
        data_for(method, train, dev, **settings)


def test_a_query_that_never_changes_is_not_read():
    same = [replace(example, query="good ?") for example in TRAIN]
    differing = [replace(example, query=f"good , {example.id} ?") for example in TRAIN]
    assert not data_for("un_rat", same).use_query
    assert data_for("un_rat", same, query="always").use_query
    assert data_for("un_rat", differing).use_query
    assert not data_for("un_rat", differing, query="never").use_query


def test_what_lies_beyond_the_window_is_counted():
    text = TextEncoder(tiny_tokenizer(), 12)
    note = describe_long_texts(text, [text.encode(example, truncate=True) for example in TRAIN])
    assert note.startswith("20 of 20 training texts are longer than 12 pieces")
    assert "of 20 gold spans lie beyond the cut" in note
    assert describe_long_texts(text, [text.encode(replace(TRAIN[0], text="a"), truncate=True)]) is None
    whole = describe_long_texts(text, [text.encode(example, truncate=False) for example in TRAIN])
    assert whole.startswith(
        "20 of 20 training texts are longer than 12 pieces: each epoch reads one window of each"
    )


def test_every_window_has_the_marks_that_lie_in_it():
    data = data_for("sup_rat")
    text = TextEncoder(tiny_tokenizer(), 12)
    rows = to_rows(text.encode_all(data.train, truncate=False), data)["all"]
    for example, row in zip(data.train, rows, strict=True):
        windows = (row, *row.more)
        assert len(windows) > 2
        for marks, spans in (("gold", example.rationale), ("shortcuts", example.shortcuts)):
            shown = {}
            for each in windows:
                assert (each.id, each.label) == (example.id, row.label)
                places = zip(each.window.starts, each.window.ends, getattr(each, marks), strict=True)
                shown |= {(int(start), int(end)): bool(own) for start, end, own in places if start < end}
            for (start, end), own in shown.items():
                assert own == any(start < span.end and end > span.start for span in spans)
        assert any(not each.gold.any() for each in windows)  # a lesson in selecting nothing


def test_gold_that_no_window_holds_teaches_nothing():
    data = data_for("sup_rat")
    text = TextEncoder(tiny_tokenizer(), 12)
    (cut,) = to_rows(text.encode_all(data.train[:1], truncate=True), data)["all"]
    late = replace(data.train[0], rationale=(Span(len(data.train[0].text) - 8, len(data.train[0].text) - 3),))
    (unknown,) = to_rows(text.encode_all([late], truncate=True), data)["all"]
    assert unknown.gold is None
    assert cut.more == unknown.more == ()


def test_a_pool_without_gold_has_it_in_no_window():
    data = data_for("semi_rat", gold_share=1.0)
    text = TextEncoder(tiny_tokenizer(), 12)
    pools = to_rows(text.encode_all(data.train, truncate=False), data)
    for row in pools["rest"]:
        assert all(each.gold is None and each.shortcuts is None for each in (row, *row.more))
