from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from audit_texts import planted

from helpers import tiny_corpus, tiny_model
from rationalize.audit._audit import audit
from rationalize.audit._replacement import make_selection_test, measure_effects, sample_documents
from rationalize.audit.audit_config import AuditConfig
from rationalize.types import Span

CONFIG = AuditConfig(sample=12)


@pytest.fixture(scope="module")
def engine():
    return tiny_model("un_rat").engine()


def test_replacing_the_shortcut_flips_what_other_words_do_not():
    examples = planted(160, pos="it ran on many screens .", neg="they shelved it for years .")
    bare = [
        replace(each, text="\n".join(line for line in each.text.split("\n") if " is " not in line))
        for each in examples
    ]
    found = audit(bare, AuditConfig(semantic=False, sample=60))
    suspected, others = found.effects
    assert (suspected.replaced, others.replaced) == (
        "suspected phrases, by random words",
        "as many other words, by random words",
    )
    assert suspected.flipped > 0.2 > others.flipped
    assert suspected.drop > 0.2 > others.drop
    assert all(phrase.flipped is not None for phrase in found.suspected)


def test_only_the_words_in_question_are_replaced(engine):
    """What is predicted on is recorded: gold never changes, controls leave the suspected phrases alone."""
    corpus = tiny_corpus(20)
    seen = []

    def predict(examples, documents):
        seen.append(list(examples))
        return np.tile([0.4, 0.6], (len(examples), 1))

    sample = sample_documents(((index, each.id) for index, each in enumerate(corpus)), CONFIG)
    chosen = [corpus[index] for index in sample]
    effects, flips = measure_effects(chosen, sample, predict, CONFIG, engine, "unicode")
    assert [each.documents for each in effects] == [12] * 4
    assert not flips.any()
    assert all((each.flipped, each.drop) == (0.0, 0.0) for each in effects)
    before, by_random, others_by_random, near, others_near = seen
    assert before == chosen
    for example, *versions in zip(chosen, by_random, others_by_random, near, others_near, strict=True):
        assert all(gold_of(each) == gold_of(example) for each in versions)
        shortcut = example.text[example.shortcuts[0].start : example.shortcuts[0].end]
        assert all(shortcut in versions[place].text for place in (1, 3))
        assert all(shortcut not in versions[place].text for place in (0, 2))
        assert all(len(each.text.split()) == len(example.text.split()) for each in versions)


def gold_of(example):
    return [example.text[span.start : span.end] for span in example.rationale]


def test_the_sample_does_not_depend_on_order():
    ids = [f"r{index}" for index in range(40)]
    chosen = {ids[index] for index in sample_documents(enumerate(ids), CONFIG)}
    assert len(chosen) == 12
    turned = ids[::-1]
    assert chosen == {turned[index] for index in sample_documents(enumerate(turned), CONFIG)}


def test_what_a_model_selects_is_looked_up_by_words(engine):
    (example,) = tiny_corpus(1)
    explanation = next(iter(engine.explain([example]))).explanation
    selected = make_selection_test(engine, [example])
    for word, chosen in zip(explanation.words, explanation.selected, strict=True):
        assert selected(0, Span(word.start, word.end)) == chosen


def test_an_audit_with_a_model_says_what_it_selects(engine):
    found = audit(tiny_corpus(80), AuditConfig(sample=10, min_cohesion=0.1), engine=engine, name="tiny")
    assert found.predictor == "the given model (un_rat)"
    assert any("not held out" in note for note in found.notes)
    assert {phrase.words for phrase in found.suspected} >= {"shown at the festival", "released in winter"}
    assert all(0 <= phrase.selected <= 1 for phrase in found.suspected if phrase.selected is not None)
    assert any(phrase.selected is not None for phrase in found.suspected)
    assert len(found.effects) == 4
