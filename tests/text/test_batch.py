"""Batches: masks kept apart, padding inert, nothing lost when batches are cut."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import tiny_batch, tiny_corpus, tiny_tokenizer
from rationalize.text.batch import InputRow, collate, cut_batches, shuffle_batches
from rationalize.text.windows import TextEncoder
from rationalize.types import Example
from searches import search

untimed = search(100)
LENGTHS = st.lists(st.integers(1, 60), max_size=150)


def mixed_examples():
    return [
        Example("a", "the film runs two hours", query="is it long ?"),
        Example("b", "superb acting throughout , it was shot in color and we saw it on a friday"),
        Example("c", ""),
    ]


def test_the_three_masks_are_disjoint_and_complete():
    batch = tiny_batch(mixed_examples())
    assert (batch.attention == (batch.selectable | batch.visible)).all()
    assert not (batch.selectable & batch.visible).any()
    tokenizer = tiny_tokenizer()
    specials = torch.isin(batch.input_ids, torch.tensor([tokenizer.cls_token_id, tokenizer.sep_token_id]))
    assert specials.any(-1).all()
    assert not (batch.selectable & specials).any()
    assert (batch.words >= 0).eq(batch.selectable).all()
    assert batch.visible.any(-1).all()


def test_padding_is_at_the_end_and_says_nothing():
    batch = tiny_batch(mixed_examples())
    padding = ~batch.attention
    assert padding.any()
    assert (padding[:, 1:] >= padding[:, :-1]).all()
    assert (batch.input_ids[padding] == tiny_tokenizer().pad_token_id).all()
    assert (batch.token_types[padding] == 0).all()
    assert (batch.words[padding] == -1).all()
    assert batch.labels.tolist() == [-1, -1, -1]


def test_rows_carry_their_own_values():
    examples = mixed_examples()
    text = TextEncoder(tiny_tokenizer(), 64)
    windows = [text.encode(each, truncate=True).windows[0] for each in examples]
    batch = collate([InputRow(str(i), window, i) for i, window in enumerate(windows)], pad_id=0)
    for i, window in enumerate(windows):
        n = len(window)
        assert batch.input_ids[i, :n].tolist() == window.input_ids.tolist()
        assert batch.token_types[i, :n].tolist() == window.token_types.tolist()
        assert batch.words[i, :n].tolist() == window.words.tolist()
        assert batch.attention[i].sum() == n
    assert batch.labels.tolist() == [0, 1, 2]


def test_gold_and_shortcuts_stay_on_the_document():
    examples = tiny_corpus(3)
    batch = tiny_batch([*examples, Example("none", "the film runs two hours")])
    assert batch.has_gold.tolist() == [True, True, True, False]
    assert not (batch.gold & ~batch.selectable).any()
    assert not (batch.shortcuts & ~batch.selectable).any()
    assert batch.shortcuts[:3].any(-1).all()
    everything = batch.selectable[0].numpy() | True
    window = TextEncoder(tiny_tokenizer(), 64).encode(examples[0], truncate=True).windows[0]
    marked = collate([InputRow("x", window, 0, gold=everything[: len(window)])], pad_id=0)
    assert (marked.gold == marked.selectable).all()  # marks on specials are dropped


def test_rows_and_device_moves_keep_every_field():
    batch = tiny_batch(tiny_corpus(5))
    part = batch.rows(slice(1, 3)).to("cpu")
    assert len(part) == 2
    assert torch.equal(part.input_ids, batch.input_ids[1:3])
    assert torch.equal(part.gold, batch.gold[1:3])
    assert torch.equal(part.labels, batch.labels[1:3])


@untimed
@given(lengths=LENGTHS, size=st.integers(1, 20), budget=st.none() | st.integers(1, 300))
def test_cut_loses_nothing_and_keeps_to_its_limits(lengths, size, budget):
    batches = cut_batches(lengths, size, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert 0 < len(batch) <= size
        widest = max(lengths[index] for index in batch)
        assert budget is None or len(batch) == 1 or widest * len(batch) <= budget
    widths = [[lengths[index] for index in batch] for batch in batches]
    assert [each for batch in widths for each in batch] == sorted(lengths, reverse=True)


@untimed
@given(lengths=LENGTHS, budget=st.none() | st.integers(1, 300), padding=st.floats(0, 0.5))
def test_a_batch_has_no_more_padding_than_allowed(lengths, budget, padding):
    batches = cut_batches(lengths, None, budget, padding=padding)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        tokens = max(lengths[index] for index in batch) * len(batch)
        assert tokens - sum(lengths[index] for index in batch) <= padding * tokens
        assert budget is None or len(batch) == 1 or tokens <= budget


@untimed
@given(lengths=LENGTHS, size=st.integers(1, 20))
def test_cut_makes_no_more_batches_than_needed(lengths, size):
    assert len(cut_batches(lengths, size)) == -(-len(lengths) // size)


@untimed
@given(
    lengths=LENGTHS, size=st.integers(1, 4), budget=st.none() | st.integers(1, 300), seed=st.integers(0, 9)
)
def test_shuffled_batches_cover_every_row_once(lengths, size, budget, seed):
    batches = shuffle_batches(lengths, size, budget, seed, "phase", 3)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= size
        assert budget is None or len(batch) == 1 or max(lengths[i] for i in batch) * len(batch) <= budget
    assert batches == shuffle_batches(lengths, size, budget, seed, "phase", 3)


@pytest.mark.parametrize("other", [(1, "phase", 0), (0, "phase", 1), (0, "other", 0)])
def test_shuffled_batches_differ_by_seed_epoch_and_purpose(other):
    lengths = [10] * 64
    seed, *purpose = other
    assert shuffle_batches(lengths, 8, None, 0, "phase", 0) != shuffle_batches(
        lengths, 8, None, seed, *purpose
    )


def test_shuffling_reads_no_ambient_randomness():
    lengths = list(range(1, 65))
    torch.manual_seed(1)
    first = shuffle_batches(lengths, 8, None, 0, "phase", 0)
    state = torch.random.get_rng_state()
    torch.manual_seed(2)
    assert shuffle_batches(lengths, 8, None, 0, "phase", 0) == first
    torch.manual_seed(1)
    assert torch.equal(torch.random.get_rng_state(), state)  # and leaves it as it was


def test_shuffling_keeps_similar_lengths_together():
    lengths = [5, 50] * 64
    batches = shuffle_batches(lengths, 8, None, 0)
    assert all(len({lengths[index] for index in batch}) == 1 for batch in batches)
    firsts = [lengths[batch[0]] for batch in batches]
    assert firsts != sorted(firsts)
    assert firsts != sorted(firsts, reverse=True)  # but long batches do not come first
