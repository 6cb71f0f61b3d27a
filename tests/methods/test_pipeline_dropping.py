"""Hiding by deletion, and units as inputs of their own: against plain loops and the tokenizer itself."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
import torch

from helpers import tiny_batch, tiny_corpus, tiny_encoders, tiny_tokenizer
from rationalize.methods.pipeline.dropping import drop_hidden, split_units
from rationalize.models.classifier import Classifier
from rationalize.models.units import find_units
from rationalize.text.sentences import find_sentences
from rationalize.text.windows import TextEncoder
from rationalize.types import Example

EXAMPLES = [
    *tiny_corpus(4),
    Example("q", "a joy to watch . wooden acting", query="is it good ?"),
    Example("e", "", query="is it good ?"),
    Example("n", ""),
]


@pytest.fixture
def batch():
    return tiny_batch(EXAMPLES)


def test_what_is_kept_moves_up_and_the_rest_is_gone(batch):
    mask = torch.rand(batch.words.shape, generator=torch.Generator().manual_seed(0)) < 0.4
    found = drop_hidden(batch, mask)
    for row in range(len(batch)):
        keep = [
            column
            for column in range(batch.words.shape[1])
            if batch.visible[row, column] or (batch.selectable[row, column] and mask[row, column])
        ]
        assert int(found.attention[row].sum()) == len(keep)
        for name in ("input_ids", "token_types", "selectable", "visible", "words", "gold", "sentences"):
            kept = getattr(found, name)[row]
            assert kept[: len(keep)].tolist() == getattr(batch, name)[row, keep].tolist(), name
            assert set(kept[len(keep) :].tolist()) <= {0, -1}, name
    assert torch.equal(found.attention, found.selectable | found.visible)
    assert torch.equal(found.has_gold, found.gold.any(-1))
    assert found.attention.any(0).all(), "wider than the longest row"


def test_a_batch_that_keeps_everything_is_the_same_batch(batch):
    found = drop_hidden(batch, batch.selectable)
    for field in fields(batch):
        assert torch.equal(getattr(found, field.name), getattr(batch, field.name)), field.name


@torch.no_grad()
def test_what_was_deleted_does_not_reach_the_reader(batch):
    net = Classifier(tiny_encoders(), 2).eval()
    mask = batch.selectable & (torch.arange(batch.words.shape[1]) % 3 == 0)
    other = replace(batch, input_ids=torch.where(batch.selectable & ~mask, 7, batch.input_ids))
    assert torch.equal(net.read(drop_hidden(batch, mask)), net.read(drop_hidden(other, mask)))
    assert not torch.equal(net.read(batch), net.read(other))


def test_sentences_are_what_the_tokenizer_makes_of_them_alone(batch):
    """Row by row: [CLS] query [SEP] sentence [SEP], as if the sentence were the whole text."""
    found, texts, numbers = split_units(batch, find_units(batch.sentences, batch.selectable))
    encoder = TextEncoder(tiny_tokenizer(), 64)
    expected = [
        (row, number, encoder.encode(Example("s", text, query=example.query), truncate=True).windows[0])
        for row, example in enumerate(EXAMPLES)
        for number, text in enumerate(
            [example.text[span.start : span.end] for span in find_sentences(example.text)] or [""]
        )
    ]
    assert len(expected) > 15
    assert list(zip(texts.tolist(), numbers.tolist(), strict=True)) == [each[:2] for each in expected]
    for row, (text, _, window) in enumerate(expected):
        there = found.attention[row]
        assert found.input_ids[row, there].tolist() == window.input_ids.tolist()
        assert found.token_types[row, there].tolist() == window.token_types.tolist()
        assert found.selectable[row, there].tolist() == window.selectable.tolist()
        assert found.labels[row] == batch.labels[text]


def test_a_sentence_with_a_gold_word_has_gold(batch):
    found, texts, _ = split_units(batch, find_units(batch.sentences, batch.selectable))
    for text in range(4):
        assert found.has_gold[texts == text].sum() == 1
    assert not found.has_gold[texts >= 4].any()
