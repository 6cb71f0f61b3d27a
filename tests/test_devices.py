"""Devices: the one that was asked for or none, and no tensor anywhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from helpers import tiny_batch, tiny_corpus, tiny_model
from rationalize.devices import list_devices, resolve_device
from rationalize.errors import ConfigError
from rationalize.inference.engine import Engine
from rationalize.methods.hooks import HearsLabels
from rationalize.methods.registry import list_names
from rationalize.models import decoding
from rationalize.seeding import generator_for
from rationalize.text.batch import shuffle_batches
from rationalize.text.windows import TextEncoder


@pytest.fixture
def machine(monkeypatch):
    """A machine with so many CUDA devices, and perhaps Apple's."""

    def build(cuda=0, mps=False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return build


@pytest.mark.parametrize(
    ("has", "asked", "given"),
    [
        ({}, "auto", "cpu"),
        ({"mps": True}, "auto", "mps"),
        ({"cuda": 2}, "auto", "cuda:0"),
        ({"cuda": 2, "mps": True}, "auto", "cuda:0"),
        ({"cuda": 2}, "cuda", "cuda:0"),
        ({"cuda": 2}, "cuda:1", "cuda:1"),
        ({"cuda": 2}, "cpu", "cpu"),
        ({"mps": True}, "mps", "mps"),
    ],
)
def test_a_device_that_is_there_is_the_one_that_was_asked_for(machine, has, asked, given):
    machine(**has)
    assert resolve_device(asked) == torch.device(given)


@pytest.mark.parametrize(
    ("has", "asked", "available"),
    [
        ({}, "cuda", "auto, cpu"),
        ({}, "mps", "auto, cpu"),
        ({"mps": True}, "cuda", "auto, mps, cpu"),
        ({"cuda": 2}, "cuda:2", "auto, cuda:0, cuda:1, cpu"),
        ({"cuda": 1}, "tpu", "auto, cuda:0, cpu"),
    ],
)
def test_a_device_that_is_not_there_is_refused_with_those_that_are(machine, has, asked, available):
    machine(**has)
    with pytest.raises(ConfigError) as error:
        resolve_device(asked)
    assert str(error.value) == f"device: {asked!r} is not available. This machine has: {available}."
    assert list_devices()[-1] == "cpu"


@pytest.mark.parametrize("method", list_names())
def test_no_tensor_is_made_where_the_others_are_not(method):
    """With a default device on which nothing can be computed, a tensor without a device of its own stands out."""
    model = tiny_model(method).method.train()
    rows = tiny_batch(tiny_corpus(6))
    batch = replace(rows, environments=torch.arange(len(rows)) % 2)
    if isinstance(model, HearsLabels):
        model.see_labels(batch.labels)
    with torch.device("meta"):
        for phase in model.phases():
            for turn in phase.turns:
                losses = turn.loss(batch, generator_for(0, phase.name, turn.name))
                assert {loss.device.type for loss in losses.values()} <= {"cpu"}
                sum(losses.values(), torch.zeros((), device="cpu")).backward()
        engine = Engine(model, TextEncoder(tiny_model(method).tokenizer, 64), ("NEG", "POS"))
        assert len(list(engine.explain(tiny_corpus(3)))) == 3


def test_the_order_of_batches_needs_no_device():
    with torch.device("meta"):
        batches = shuffle_batches([3, 9, 4, 4], 2, None, 0, "phase")
    assert sorted(row for batch in batches for row in batch) == [0, 1, 2, 3]


@pytest.mark.parametrize("decode", [decoding.topk, decoding.span])
def test_masks_are_read_off_in_double_precision_on_the_cpu_where_the_device_has_none(decode, monkeypatch):
    scores, selectable = torch.rand(3, 850, generator=generator_for(0)), torch.ones(3, 850, dtype=torch.bool)
    expected = decode(scores, selectable, 0.3)
    assert expected.sum(-1).tolist() == [255] * 3
    moved = []
    monkeypatch.setattr(decoding, "_has_double", lambda device: moved.append(device) or False)
    assert torch.equal(decode(scores, selectable, 0.3), expected)
    assert moved
