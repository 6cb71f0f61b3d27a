"""Calibrated decoding: the wanted share of all words, however they are spread over the texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import tiny_corpus, tiny_model
from rationalize.inference import calibration
from rationalize.inference.calibration import calibrate, find_cutoff
from rationalize.methods.registry import list_methods, method_class
from rationalize.types import Example

CORPUS = tiny_corpus(12)


def calibrated_methods():
    for about in list_methods():
        selection = method_class(about.name).Config.model_fields.get("selection")
        decoding = selection and selection.annotation.model_fields.get("decoding")
        if decoding and "calibrated" in decoding.annotation.__args__:
            yield about.name


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50, unique=True), st.floats(0, 1))
def test_the_share_of_distinct_scores_is_met_to_the_word(scores, share):
    cutoff = find_cutoff(np.array(scores), share)
    assert sum(score > cutoff for score in scores) == pytest.approx(round(share * len(scores)), abs=1)


@pytest.mark.parametrize("method", list(calibrated_methods()))
def test_every_method_shows_what_exceeds_its_cutoff(method):
    model = tiny_model(method, selection={"decoding": "calibrated", "share": 0.3})
    engine = model.engine()
    encoded = [engine.text.encode(example, truncate=True) for example in CORPUS]
    calibrate(engine, encoded)
    found = [item.explanation for item in engine.explain_encoded(encoded)]
    for explanation in found:
        assert explanation.selected == tuple(
            score > float(model.method.cutoff) for score in explanation.scores
        )
    words = [chosen for explanation in found for chosen in explanation.selected]
    assert sum(words) / len(words) == pytest.approx(0.3, abs=1.5 / len(words))


def test_other_decodings_keep_no_cutoff():
    assert "cutoff" not in tiny_model("un_rat").method.state_dict()


@pytest.mark.parametrize(("most_words", "read"), [(10**6, 12), (60, 4), (1, 3)])
def test_few_long_texts_are_enough(most_words, read, monkeypatch):
    monkeypatch.setattr(calibration, "MOST_WORDS", most_words)
    monkeypatch.setattr(calibration, "LEAST_TEXTS", 3)
    engine = tiny_model("un_rat", selection={"decoding": "calibrated"}).engine()
    seen = []
    monkeypatch.setattr(type(engine), "explain_encoded", count(type(engine).explain_encoded, seen))
    texts = [Example(str(i), "word " * 15) for i in range(12)]
    calibrate(engine, engine.text.encode_all(texts, truncate=True))
    assert seen == [read]


def count(explain, seen):
    def counted(self, encoded):
        seen.append(len(encoded))
        return explain(self, encoded)

    return counted
