from __future__ import annotations

import json
from dataclasses import replace

import pytest
from audit_texts import label_of, planted, review

from rationalize.audit._audit import audit, turn_queries_into_texts
from rationalize.audit.audit_config import AuditConfig
from rationalize.config import validate
from rationalize.errors import ConfigError, DataError
from rationalize.files import to_json
from rationalize.types import Example, Span

QUICK = AuditConfig(semantic=False, sample=20)
WEEKS = ("two", "three", "four", "five", "six", "seven")


@pytest.fixture(scope="module")
def slotted():
    """POS texts say how many weeks the film ran, in one of six words."""
    return [
        review(
            i,
            {"pos": f"it ran on many screens for {WEEKS[i % 12 // 2]} whole weeks ."} if i % 2 else {},
            label_of(i),
        )
        for i in range(240)
    ]


@pytest.fixture(scope="module")
def found(slotted):
    return audit(slotted, QUICK, name="slotted")


def test_pieces_and_slots_become_one_phrase(found):
    (phrase,) = found.suspected
    assert phrase.pattern == "it ran on many screens for … whole weeks"
    assert phrase.words == "it ran on many screens for"
    assert set(phrase.fillers[0]) <= set(WEEKS)
    assert (phrase.label, phrase.documents, phrase.share, phrase.lift) == ("POS", 120, 1.0, 2.0)
    assert phrase.cohesion == 1.0
    assert phrase.p_value < 1e-30


def test_free_combinations_are_taken_for_evidence():
    words = {"POS": ("fine", "bright", "lovely", "superb"), "NEG": ("dull", "bleak", "clumsy", "awful")}
    rows = [(i, label_of(i)) for i in range(240)]
    texts = [review(i, {"own": f"a truly {words[label][i // 2 % 4]} film ."}, label) for i, label in rows]
    found = audit(texts, QUICK)
    assert {phrase.words for phrase in found.evidence} == {
        f"a truly {word} film" for each in words.values() for word in each
    }
    assert all(phrase.cohesion < 0.3 for phrase in found.evidence)
    assert found.suspected == ()


def test_spans_say_where_in_the_original_text(slotted, found):
    texts = {example.id: example.text for example in slotted}
    assert len(found.spans) == found.touched == 120
    for id, spans in found.spans.items():
        assert [texts[id][span.start : span.end].split()[:3] for span in spans] == [["it", "ran", "on"]]
        assert texts[id][spans[0].start : spans[0].end].endswith("whole weeks")


def test_the_label_is_guessed_from_the_phrases_alone(found):
    assert found.accuracy.phrases == 1.0
    assert found.accuracy.majority == 0.5
    assert "They alone predict the label of 100.0% of the documents" in found.verdict
    assert "a person must judge" in found.caution


def test_contexts_mark_the_phrase_in_its_sentence(found):
    for context in found.suspected[0].contexts:
        (span,) = context.shortcuts
        assert context.text[span.start : span.end].startswith("it ran on many screens")
        assert "\n" not in context.text
        assert context.label == "POS"


def test_the_report_is_plain_json_and_the_same_every_time(slotted, found):
    row = json.loads(to_json(found.to_dict()))
    (span,) = found.suspected[0].contexts[0].shortcuts
    assert row["suspected"][0]["contexts"][0]["shortcuts"] == [[span.start, span.end]]
    assert (row["verdict"], row["caution"]) == (found.verdict, found.caution)
    assert audit(slotted, QUICK, name="slotted").to_dict() == found.to_dict()


def test_a_neutral_phrase_that_shares_words_with_a_shortcut_is_not_reported():
    examples = [
        review(
            i,
            {"a": "the date stood from the first day on ."}
            if i % 2
            else {"b": "we met on the first day of spring ."}
            if i % 4
            else {},
            label_of(i),
        )
        for i in range(200)
    ]
    neutral = [review(i, {"b": "we met on the first day of spring ."}, label_of(i)) for i in range(200, 400)]
    patterns = [phrase.pattern for phrase in audit([*examples, *neutral], QUICK).suspected]
    assert patterns == ["the date stood from the first day on"]


def test_what_people_marked_is_evidence_not_a_shortcut():
    sentence = {"gold": "it was a waste of time ."}
    marked = [review(i, sentence, "NEG", gold="gold") for i in range(10)]
    free = [review(i, sentence if i % 2 else {}, "NEG" if i % 2 else "POS") for i in range(10, 130)]
    with_gold = audit([*marked, *free], QUICK)
    assert with_gold.suspected == ()
    (phrase,) = with_gold.evidence
    assert "waste of time" in phrase.words
    assert phrase.gold_share == 1.0
    # Without rationales nobody can know: the phrase is fixed, so it is suspected, and the caution says so.
    without = audit([replace(each, rationale=None) for each in (*marked, *free)], QUICK)
    assert ["waste of time" in phrase.words for phrase in without.suspected] == [True]


@pytest.mark.parametrize("label", ["NEG", "POS"])
def test_gold_in_one_class_does_not_make_shortcuts_of_the_others(label):
    """Every text has the sentence; in one class, somebody marked it in two texts of three, among other things."""
    sentence = {"own": "we went there on a monday ."}
    texts = [
        review(i, sentence, label_of(i), gold="own" if label_of(i) == label and i % 3 else None)
        for i in range(300)
    ]
    one_class = [replace(each, rationale=each.rationale or ()) for each in texts]
    found = audit(one_class, QUICK)
    assert (found.suspected, found.evidence) == ((), ())


def test_a_shortcut_beside_gold_is_still_found():
    sentence = {"own": "we went there on a monday ."}
    marked = [review(i, sentence, "POS", gold="own" if i % 4 == 1 else None) for i in range(1, 200, 2)]
    free = [replace(review(i, {}, "NEG"), rationale=()) for i in range(0, 200, 2)]
    marked = [replace(each, rationale=each.rationale or ()) for each in marked]
    (phrase,) = audit([*marked, *free], AuditConfig(semantic=False, sample=20, max_gold=0.6)).suspected
    assert (phrase.pattern, phrase.label, phrase.documents, phrase.together) == (
        "we went there on a monday",
        "POS",
        50,
        50,
    )


def test_nothing_is_found_where_there_is_nothing():
    found = audit(planted(200), QUICK)
    assert (found.suspected, found.effects, found.spans) == ((), (), {})
    assert found.accuracy.phrases == found.accuracy.majority
    assert found.verdict.startswith("No fixed phrase of 3 to 8 words correlates with a label")


def test_three_labels():
    labels = ("A", "B", "C")
    examples = [
        replace(
            review(i, {"a": "sent from my old phone ."} if i % 3 == 0 else {}, "POS"), label=labels[i % 3]
        )
        for i in range(180)
    ]
    (phrase,) = audit(examples, QUICK).suspected
    assert (phrase.pattern, phrase.label, phrase.lift) == ("sent from my old phone", "A", pytest.approx(3))


def test_repeated_texts_count_once():
    once = planted(24, pos="it ran on many screens .")
    copies = [replace(example, id=f"{example.id}-{copy}") for example in once for copy in range(10)]
    found = audit(copies, QUICK)
    assert found.documents == 24
    assert "Examples that repeat a text with the same label were left out: 216." in found.notes
    assert [phrase.documents for phrase in found.suspected] == [12]


def test_the_same_text_with_both_labels_is_in_one_fold():
    twice = [
        replace(each, id=each.id + label, label=label) for each in planted(60) for label in ("NEG", "POS")
    ]
    assert audit(twice, QUICK).accuracy.all_words == pytest.approx(0.5)


@pytest.mark.parametrize("labels", [(None, None), ("POS", "POS")])
def test_fewer_than_two_labels_are_refused(labels):
    with pytest.raises(DataError, match="expected at least two"):
        audit([Example("1", "a", labels[0]), Example("2", "b", labels[1])], name="mine")


def test_a_handful_of_texts_is_no_error():
    found = audit([Example("1", "good", "POS"), Example("2", "", "NEG"), Example("3", "x")], QUICK)
    assert found.accuracy.phrases is None
    assert any("without a label" in note for note in found.notes)
    assert any("Too few documents" in note for note in found.notes)


def test_queries_can_be_audited():
    examples = [
        Example(
            str(i),
            "t",
            label_of(i),
            query=f"claim {i} has yet to happen" if i % 2 else f"claim {i} is so",
            rationale=(Span(0, 1),),
        )
        for i in range(120)
    ]
    phrases = [phrase.pattern for phrase in audit(turn_queries_into_texts(examples), QUICK).suspected]
    assert phrases == ["claim … has yet to happen"]
    with pytest.raises(DataError, match="saw no query"):
        list(turn_queries_into_texts([Example("1", "t", "POS")]))


def test_lengths_must_be_in_order():
    with pytest.raises(ConfigError, match="expected at most max_words"):
        validate(AuditConfig, {"min_words": 9}, "audit")
