"""Golden facts (`golden.json`): inputs, and what ERASER's own scorer or SSR's calls of scikit-learn give."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from searches import search

GOLDEN = json.loads(Path(__file__).with_name("golden.json").read_text(encoding="utf-8"))

# Machines differ: a slow first import is no failure.
untimed = search(50)


def cases(section, *, refused=True):
    """Parametrize a test over a section's cases, by name; `refused`: those too that the reference refuses."""
    kept = {
        name: case for name, case in GOLDEN[section].items() if refused or "error" not in case["expected"]
    }
    return pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in kept.items()])


def close(value):
    return pytest.approx(value, abs=1e-9, rel=1e-9)


def span_pairs(case):
    """(gold, predicted) word spans of every (annotation, document) of a `hard` case."""
    pairs = defaultdict(lambda: ([], []))
    for side, spans in enumerate((case["gold"], case["predicted"])):
        for annotation, document, start, end in spans:
            pairs[annotation, document][side].append((start, end))
    return list(pairs.values())


def check_scores(scores, expected):
    """Our `Scores` are the reference's; where it divides by zero, ours are 0."""
    zero = {"micro": [0, 0, 0], "macro": [0, 0, 0]}
    for average, values in (zero if "reference_error" in expected else expected).items():
        ours = getattr(scores, average)
        assert [ours.p, ours.r, ours.f1] == close(values), average
