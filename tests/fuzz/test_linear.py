"""The work that a text costs grows as the text does: counted in pieces that are read and functions that are called."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest
import torch

from helpers import tiny_model
from rationalize.methods.base import Output
from rationalize.types import Example

SENTENCE = "a truly gripping story , warm and clever writing . "


def count_work(engine, words, monkeypatch):
    """Pieces that the method is given, and calls of functions, to explain a text of so many words."""
    text = " ".join((SENTENCE * (words // 9 + 1)).split()[:words])
    read, calls = [], 0

    def explain(batch):
        read.append(batch.input_ids.numel())
        nothing = torch.zeros(batch.input_ids.shape)
        return Output(nothing.bool(), nothing, torch.zeros(len(batch.input_ids), 2))

    def note(frame, event, arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    monkeypatch.setattr(engine.method, "explain", explain)
    sys.setprofile(note)
    try:
        [found] = engine.explain([Example("0", text, query="is it good ?")])
    finally:
        sys.setprofile(None)
    assert len(found.explanation.words) == words
    return sum(read), calls


def check(sizes, monkeypatch):
    engine = tiny_model("un_rat").engine()
    count_work(engine, 50, monkeypatch)  # what is computed once is computed now
    work = [count_work(engine, words, monkeypatch) for words in sizes]
    for words, (pieces, calls) in zip(sizes, work, strict=True):
        print(f"\n{words} words: {pieces} pieces read, {calls} calls")
    for (small, large), before, after in zip(pairwise(sizes), work, work[1:]):
        for less, more in zip(before, after, strict=True):
            assert more <= 1.15 * large / small * less + 2000


def test_work_is_linear(monkeypatch):
    check([1, 100, 1000, 2000], monkeypatch)


@pytest.mark.slow
def test_work_is_linear_up_to_two_hundred_thousand_words(monkeypatch):
    check([1, 10, 100, 1000, 10_000, 100_000, 200_000], monkeypatch)
