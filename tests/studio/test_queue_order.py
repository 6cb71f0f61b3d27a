"""Which text comes next."""

from __future__ import annotations

from studio_helpers import TEXTS

from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.studio._decisions import Suggestion
from rationalize.studio._queue_order import compute_uncertainty, order_texts, spread_out
from rationalize.studio.pool import make_pool
from rationalize.types import Example, Span


def pool_of(examples):
    return make_pool(read_data({"train": list(examples)}, ReadOptions()))


def suggest(number, positive, spans=(), label="POS", review=False):
    return Suggestion(number, label, {"POS": positive, "NEG": 1 - positive}, tuple(spans), review)


def test_uncertainty():
    assert compute_uncertainty(suggest(1, 0.5)) == 1
    assert compute_uncertainty(suggest(1, 1.0)) == 0
    assert compute_uncertainty(suggest(1, 1.0, review=True)) == 1


def test_the_least_sure_come_first_and_copies_later():
    texts = (
        [f"alpha beta {index}" for index in range(20)] + ["alpha beta gamma"] * 20 + ["delta epsilon"] * 20
    )
    pool = pool_of(Example(str(index), text, "POS") for index, text in enumerate(texts))
    found = {number: suggest(number, 0.99 if number <= 20 else 0.6) for number in range(1, 61)}
    order = order_texts(pool, "useful", found)
    assert sorted(order) == list(range(1, 61))
    assert min(order[:15]) > 20  # a quarter of the texts, all uncertain
    assert {pool[number].text for number in order[:2]} == {"alpha beta gamma", "delta epsilon"}


def test_spreading_begins_with_the_first():
    texts = {1: "a red fox", 2: "a red fox", 3: "blue whales swim"}
    assert spread_out([1, 2, 3], texts.__getitem__) == [1, 3, 2]


def test_without_a_model_every_text_is_there_once():
    assert sorted(order_texts(pool_of(TEXTS), "useful", {})) == [1, 2, 3, 4, 5, 6]


def test_wrong_labels_then_other_words_come_first():
    pool = pool_of(TEXTS[:3])
    found = {
        1: suggest(1, 0.9, [Span(2, 16)]),
        2: suggest(2, 0.9, [Span(0, 6)], label="POS"),
        3: suggest(3, 0.9),
    }
    assert order_texts(pool, "disagrees", found)[0] == 2
    found[1] = suggest(1, 0.9, [Span(0, 1)])
    found[2] = suggest(2, 0.1, [Span(0, 6)], label="NEG")
    assert order_texts(pool, "disagrees", found)[0] == 1


def test_random_is_the_same_every_time():
    pool = pool_of(TEXTS)
    assert order_texts(pool, "random", {}, 1) == order_texts(pool, "random", {}, 1)
    assert order_texts(pool, "random", {}, 1) != order_texts(pool, "random", {}, 2)
