"""Small hand-made explanations and results; the hostile one tries to get out of every format."""

from __future__ import annotations

import pytest

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
def results() -> dict:
    trivial = {"token_f1_eraser": 0.2, "selected_fraction": 0.25, "share": 0.25, "share_from": "model"}
    return {
        "schema": 1,
        "method": "semi_rat",
        "split": "test",
        "faithful": True,
        "n_examples": 8,
        "metrics": {
            "task_f1_weighted": 0.875,
            "token_f1_eraser": 0.5,
            "auprc": None,
            "selected_fraction": 0.25,
        },
        "trivial": {
            "all": {**trivial, "token_f1_eraser": 0.4, "share": 1.0},
            **{selector: dict(trivial) for selector in ("random", "first", "last")},
        },
        "health": {
            "selected_share": 0.25,
            "empty_share": 0.0,
            "by_predicted": {"NEG": {"selected": 0.2, "empty": 0.0, "n": 4}},
            "probe_predicted": {"accuracy": 0.75, "majority": 0.5, "p_value": 0.1, "n": 8},
            "warnings": ["The selector selects almost nothing."],
        },
        "confusion": {"NEG": {"NEG": 3, "POS": 1}, "POS": {"NEG": 0, "POS": 4}},
    }
