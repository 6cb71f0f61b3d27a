"""Any text, to every method: finite numbers, and spans that lie in the text."""

from __future__ import annotations

import math
import random

import pytest
from test_hostile_texts import draw

from helpers import tiny_model
from rationalize.methods.registry import list_names
from rationalize.types import Example
from tally import Tally


def draw_text(rng):
    """Nothing, white space, hostile pieces, one long word, or some hundred words."""
    kinds = ["", " \n\t", "x" * 3000, "." * 500, "日本語" * 80, " ".join(["word"] * rng.randrange(1, 300))]
    text = rng.choice(kinds) if rng.random() < 0.3 else draw(rng, rng.choice([2, 10, 60]))
    return text.encode("utf-8", "replace").decode()


def find_faults(explanation):
    numbers = [*explanation.probabilities.values(), *explanation.scores]
    if not all(math.isfinite(number) and 0 <= number <= 1 + 1e-6 for number in numbers):
        yield "numbers"
    ends = [(span.start, span.end) for span in explanation.spans]
    if not all(0 <= start < end <= len(explanation.text) for start, end in ends) or ends != sorted(ends):
        yield "spans"
    if abs(sum(explanation.probabilities.values()) - 1) > 1e-4:
        yield "probabilities"


def attack(method, times, seconds, seed):
    tally, rng = Tally(f"any text, {method}", seconds), random.Random(seed)
    engine = tiny_model(method).engine()
    for number in tally.bound(range(0, times, 20)):
        given = [Example(str(each), draw_text(rng), query=draw_text(rng) or None) for each in range(20)]
        try:
            found = [each.explanation for each in engine.explain(given)]
        except Exception as error:
            tally.fail(f"{number}: {type(error).__name__}: {error}: {[each.text for each in given]!r:.500}")
            continue
        for each in found:
            faults = list(find_faults(each))
            tally.fail(f"{faults}: {each.text!r:.300}") if faults else tally.count("valid")
    return tally


@pytest.mark.parametrize("method", ["un_rat", "full_text", "st_rat"])
def test_some_texts(method):
    attack(method, 20, 300, seed=1).close(20)


@pytest.mark.slow
@pytest.mark.parametrize("method", list_names())
def test_a_thousand_texts_for_every_method(method):
    attack(method, 1000, 3600, seed=2).close(1000)
