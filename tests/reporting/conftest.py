"""Small hand-made explanations and results; the hostile one tries to get out of every format."""

from __future__ import annotations

import pytest

from made_results import make_evaluation
from rationalize.evaluation.evaluation import Evaluation
from rationalize.text.words import mask_spans, word_spans
from rationalize.types import Example, Explanation, Span

HOSTILE = (
    "<script>alert(1)</script> \"double\" 'single' & &lt; </div></style><img src=x onerror=alert(1)> "
    "\x1b[31mred\x00\x9b \u202eoverride \ud800 {{ 7*7 }} [link](http://x) | `tick` مرحبا 😀 " + "w" * 300
)


def make_explanation(text: str, chosen: set[int], **changes: object) -> Explanation:
    words = word_spans(text)
    mask = [index in chosen for index in range(len(words))]
    values = {
        "text": text,
        "label": "POS",
        "probabilities": {"NEG": 0.1, "POS": 0.9},
        "spans": mask_spans(words, mask),
        "words": tuple(words),
        "scores": tuple(float(value) for value in mask),
        "selected": tuple(mask),
        "faithful": True,
        "method": "semi_rat",
    }
    return Explanation(**(values | changes))


@pytest.fixture
def explanation() -> Explanation:
    return make_explanation("a truly gripping film", {1, 2})


@pytest.fixture
def hostile() -> Explanation:
    return make_explanation(
        HOSTILE, {0, 3, 6, 9}, label=HOSTILE, probabilities={HOSTILE: 1.0}, method=HOSTILE, query=HOSTILE
    )


@pytest.fixture
def hostile_example() -> Example:
    return Example(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (Span(3, 60),), shortcuts=(Span(40, 90),))


@pytest.fixture
def results() -> Evaluation:
    return make_evaluation()
