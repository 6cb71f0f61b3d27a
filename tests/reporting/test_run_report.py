"""The page of one model."""

from __future__ import annotations

from dataclasses import replace

from rationalize.reporting.run_report import worst_mistakes

from helpers import tiny_corpus
from rationalize.types import Explanation


def said(example, label, sure):
    other = {"POS": "NEG", "NEG": "POS"}[label]
    return Explanation(example.text, label, {label: sure, other: 1 - sure}, (), (), (), (), True, "un_rat")


def test_the_worst_mistakes_are_the_surest():
    examples = [replace(each, label="POS") for each in tiny_corpus(4)]
    answers = [("NEG", 0.6), ("POS", 0.99), ("NEG", 0.9), ("NEG", 0.7)]
    pairs = [(e, said(e, label, sure)) for e, (label, sure) in zip(examples, answers, strict=True)]
    pairs.append((replace(examples[0], label=None), said(examples[0], "NEG", 1.0)))
    assert [each.id for each, _ in worst_mistakes(pairs, 2)] == [examples[2].id, examples[3].id]
