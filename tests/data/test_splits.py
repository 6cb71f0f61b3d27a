from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rationalize.data.dataset import DataSet
from rationalize.data.splits import choose_gold, is_lone, limit, make_splits, split_lone
from rationalize.errors import ConfigError
from rationalize.types import Example, Span

rationales = st.sampled_from([None, (), (Span(0, 1),), (Span(0, 1),)])
pools = st.lists(st.tuples(st.sampled_from(["A", "B", "C", None]), rationales), max_size=40).map(
    lambda rows: [Example(f"e{i}", "text", label, rationale=gold) for i, (label, gold) in enumerate(rows)]
)


def pool(**sizes):
    return [
        Example(f"{label}{i}", "text", label, rationale=(Span(0, 4),))
        for label, size in sizes.items()
        for i in range(size)
    ]


def labels(ids):
    return Counter(id[0] for id in ids)


@settings(deadline=None)
@given(pools, st.floats(0, 1), st.integers(0, 3), st.randoms(use_true_random=False))
def test_gold_is_eligible_of_the_right_size_and_fixed_by_the_seed(examples, share, seed, random):
    chosen = choose_gold(examples, share, seed)
    eligible = {example.id for example in examples if example.rationale is not None}
    assert set(chosen) <= eligible
    assert len(set(chosen)) == len(chosen) == min(round(share * len(examples)), len(eligible))
    shuffled = random.sample(examples, len(examples))
    assert choose_gold(shuffled, share, seed) == chosen


def test_shares_are_of_all_examples_and_labels_keep_theirs():
    examples = pool(A=800, B=800)
    assert labels(choose_gold(examples)) == {"A": 200, "B": 200}
    assert choose_gold(examples, 0) == ()
    assert len(choose_gold(examples, 1.0)) == 1600
    assert labels(choose_gold(pool(A=5, B=3, C=2), 0.5)) == {"A": 3, "B": 1, "C": 1}


def test_what_a_label_cannot_give_the_others_do():
    scarce = [Example(f"B{i}", "text", "B") for i in range(50)]
    chosen = choose_gold(pool(A=40) + scarce + pool(C=10), 0.3)
    assert labels(chosen) == {"A": 24, "C": 6}


def test_an_empty_rationale_is_gold():
    harmless = [Example(f"B{i}", "text", "B", rationale=()) for i in range(20)]
    assert labels(choose_gold(pool(A=20) + harmless, 0.5)) == {"A": 10, "B": 10}


def test_seeds_differ():
    examples = pool(A=50, B=50)
    assert choose_gold(examples, 0.25, 0) != choose_gold(examples, 0.25, 1)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_shares_out_of_range(share):
    with pytest.raises(ConfigError, match="from 0 to 1"):
        choose_gold(pool(A=1), share)


@settings(deadline=None)
@given(pools, st.integers(0, 50), st.integers(0, 3))
def test_a_limit_keeps_order_and_proportions(examples, n, seed):
    chosen = limit(examples, n, seed)
    assert len(chosen) == min(n, len(examples))
    assert list(chosen) == [example for example in examples if example in chosen]
    if examples:
        whole, part = Counter(e.label for e in examples), Counter(e.label for e in chosen)
        assert all(abs(part[label] - len(chosen) * whole[label] / len(examples)) < 1 for label in whole)


def posts(**sizes):
    return [
        Example(f"{label}{i}", f"{label} {i}", label) for label, size in sizes.items() for i in range(size)
    ]


def test_parts_have_their_shares_and_all_labels():
    parts = make_splits(posts(A=300, B=100), dev=0.1)
    assert {name: labels(example.id for example in part) for name, part in parts.items()} == {
        "train": {"A": 240, "B": 80},
        "dev": {"A": 30, "B": 10},
        "test": {"A": 30, "B": 10},
    }
    assert make_splits(posts(A=10, B=10), test=0, dev=0.2).keys() == {"train", "dev"}


some_posts = st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 8), st.sampled_from([None, "q", "r"])))


@settings(deadline=None)
@given(some_posts, st.integers(0, 3), st.randoms(use_true_random=False))
def test_parts_never_share_a_text_and_are_fixed_by_the_seed(rows, seed, random):
    examples = [Example(str(i), f"text {t}", label, query) for i, (label, t, query) in enumerate(rows)]
    parts = make_splits(examples, seed=seed)
    texts = [{example.text for example in part} for part in parts.values()]
    assert sum(map(len, texts)) == len(set().union(*texts))
    assert sorted(example.id for part in parts.values() for example in part) == sorted(e.id for e in examples)
    shuffled = make_splits(random.sample(examples, len(examples)), seed=seed)
    assert {name: {e.id for e in part} for name, part in shuffled.items()} == {
        name: {e.id for e in part} for name, part in parts.items()
    }


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("ABCD"), st.integers(1, 30), min_size=1))
def test_every_label_keeps_an_example_to_train_on(sizes):
    parts = make_splits(posts(**sizes))
    assert labels(example.id for example in parts["train"]).keys() == sizes.keys()


def test_parts_of_other_seeds_differ():
    assert make_splits(posts(A=50, B=50), seed=0)["test"] != make_splits(posts(A=50, B=50), seed=1)["test"]


@pytest.mark.parametrize("shares", [{"dev": -0.1}, {"test": 1.0}, {"dev": 0.6, "test": 0.5}])
def test_shares_of_parts_out_of_range(shares):
    with pytest.raises(ConfigError, match="expected a share"):
        make_splits(posts(A=4), **shares)


def test_only_a_split_that_nobody_named_is_split():
    assert is_lone(["posts"])
    assert not any(map(is_lone, (["train"], ["test"], ["dev"], ["a", "b"], [])))
    data = split_lone(DataSet("posts", {"posts": tuple(posts(A=10, B=10))}, words="whitespace"))
    assert {name: len(part) for name, part in data.items()} == {"train": 14, "dev": 4, "test": 2}
    assert data.words == "whitespace"
    assert data.notes["examples put into train, as there was one split"] == 14


def test_a_negative_limit():
    with pytest.raises(ConfigError, match="0 or more"):
        limit(pool(A=1), -1)


def test_copies_of_a_post_are_in_one_part():
    """A repost with another address or @name would let a model be scored on what it has learned."""
    originals = posts(A=60, B=60)
    copies = [
        replace(each, id=f"copy of {each.id}", text=f"RT @user{i}: {each.text.upper()}! https://t.co/{i}")
        for i, each in enumerate(originals)
    ]
    originals = [replace(each, text=f"rt: {each.text}") for each in originals]
    parts = make_splits([*originals, *copies], dev=0.2, test=0.2)
    part_of = {each.id: name for name, part in parts.items() for each in part}
    assert set(part_of.values()) == {"train", "dev", "test"}
    assert all(part_of[each.id] == part_of[f"copy of {each.id}"] for each in originals)


@pytest.mark.parametrize(("n", "dev"), [(40, 8), (400, 80), (2000, 300), (4000, 400)])
def test_dev_gets_a_larger_share_of_few_examples(n, dev):
    parts = make_splits(posts(A=n // 2, B=n // 2))
    assert (len(parts["dev"]), len(parts["test"])) == (dev, n // 10)
