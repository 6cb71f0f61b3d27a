from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers import tiny_corpus, tiny_model
from rationalize.augment.copies import make_copies
from rationalize.augment.random import augment_random, collect_words
from rationalize.augment.semantic import augment_semantic, find_neighbors
from rationalize.inference.vectors import Represented
from rationalize.text.replace import find_replaceable_words, replace_words
from rationalize.text.words import word_mask, word_spans
from rationalize.types import Document, Example, Span

# Letters of spaced scripts, signs and emoji: in text without spaces, what a word is depends on the whole text.
CHARACTERS = st.characters(max_codepoint=0x5FF, exclude_categories=["Z", "C"]) | st.sampled_from("🦊…“€")
WORDS = st.lists(st.text(CHARACTERS, min_size=1, max_size=4), min_size=4, max_size=12)


def of(example: Example, spans) -> list[str]:
    return [example.text[span.start : span.end] for span in spans]


@given(WORDS, st.data())
def test_only_the_replaced_words_change(words, data):
    text = "  ".join(words)
    spans = word_spans(text, "whitespace")
    n = len(spans)
    gold = data.draw(st.sets(st.integers(0, n - 1), max_size=n // 2))
    new = data.draw(
        st.dictionaries(
            st.sampled_from(sorted(set(range(n)) - gold) or [0]), st.sampled_from(["q", "longer"])
        )
    )
    new = {index: word for index, word in new.items() if index not in gold}
    example = Example(
        "1",
        text,
        "POS",
        rationale=tuple(spans[index] for index in sorted(gold)),
        documents=(Document("d", 0, len(text)),),
    )
    changed = replace_words(example, new, "~x", "whitespace")
    after = [changed.text[span.start : span.end] for span in word_spans(changed.text, "whitespace")]
    assert after == [new.get(index, text[span.start : span.end]) for index, span in enumerate(spans)]
    assert of(changed, changed.rationale) == of(example, example.rationale)
    assert changed.documents == (Document("d", 0, len(changed.text)),)
    assert changed.label == "POS"


def test_words_that_touch_punctuation_stay_apart_when_they_are_replaced():
    text = "slow,dull and (bad)."
    words = word_spans(text, "unicode")
    example = Example("1", text, "NEG", rationale=(Span(5, 9),), shortcuts=(Span(0, 4), Span(15, 18)))
    assert [words[index] for index in find_replaceable_words(example, "unicode")] == list(example.shortcuts)
    changed = replace_words(example, {0: "a", 5: "longer"}, "~x", "unicode")
    assert changed.text == "a,dull and (longer)."
    assert of(changed, changed.rationale) == ["dull"]
    assert of(changed, changed.shortcuts) == ["a", "longer"]
    merged = replace_words(example, {1: "and"}, "~x", "unicode")
    assert merged.text == "slow and dull and (bad)."
    assert of(merged, merged.rationale) == ["dull"]


def test_random_replaces_every_shortcut_word_and_nothing_else():
    examples = tiny_corpus(6)
    bag = collect_words(examples, "unicode")
    for example in examples:
        copy = augment_random(example, bag, 3, "unicode")
        assert copy == augment_random(example, bag, 3, "unicode")
        before, after = word_spans(example.text), word_spans(copy.text)
        assert len(before) == len(after)
        kept = set(range(len(before))) - set(find_replaceable_words(example, "unicode"))
        assert all(
            example.text[before[i].start : before[i].end] == copy.text[after[i].start : after[i].end]
            for i in kept
        )
        assert of(copy, copy.rationale) == of(example, example.rationale)
        assert set(of(copy, word_spans(copy.text))) <= set(bag)
        assert word_mask(after, copy.shortcuts) == word_mask(before, example.shortcuts)
    assert (
        augment_random(examples[0], bag, 3, "unicode", copy=1).text
        != augment_random(examples[0], bag, 3, "unicode", copy=0).text
    )


def test_gold_inside_a_shortcut_is_never_replaced():
    example = Example("1", "a b c d", "POS", rationale=(Span(2, 3),), shortcuts=(Span(0, 7),))
    assert find_replaceable_words(example, "unicode") == [0, 2, 3]


def test_nearest_other_text_and_ties_by_id():
    vectors = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [5.0, 0.0]], dtype=np.float32)
    assert find_neighbors(vectors, ["d", "c", "b", "a"]) == [2, 2, 1, 2]
    assert find_neighbors(vectors[:1], ["x"]) == [0]


def vectors_of(rows: list[list[float]]) -> Represented:
    array = np.array(rows, dtype=np.float32)
    return Represented(array.mean(0), array, np.ones(len(rows), dtype=bool))


def test_semantic_takes_the_nearest_word_that_is_gold_in_neither():
    own = Example("x", "good short cut", "POS", rationale=(Span(0, 4),), shortcuts=(Span(5, 14),))
    # The neighbor's nearest words to "short" are gold there ("gold"), and spell a gold word of x ("Good").
    other = Example("r", "gold Good near far", "POS", rationale=(Span(0, 4),))
    represented = [
        vectors_of([[9.0], [0.0], [3.0]]),
        vectors_of([[0.0], [0.1], [0.5], [2.8]]),
    ]
    copy = augment_semantic([own, other], represented, "unicode")[0]
    assert copy.text == "good near far"
    assert of(copy, copy.rationale) == ["good"]


def test_kinds_and_numbers_of_copies():
    examples = tiny_corpus(8)
    engine = tiny_model("un_rat").engine()
    assert len(make_copies("random", examples, examples, 12, 0, "unicode")) == 12
    assert len({copy.id for copy in make_copies("random", examples, examples, 12, 0, "unicode")}) == 12
    semantic = make_copies("semantic", examples, examples, 5, 0, "unicode", engine)
    assert len(semantic) == 5
    assert semantic == make_copies("semantic", examples, examples, 5, 0, "unicode", engine)
    mixed = make_copies("mixed", examples, examples, 5, 0, "unicode", engine)
    assert [copy.id.split("~")[1][:6] for copy in mixed] == ["random"] * 5 + ["semant"] * 5
    for copy in mixed:
        source = next(example for example in examples if example.id == copy.id.split("~")[0])
        assert of(copy, copy.rationale) == of(source, source.rationale)


def test_word_vectors_on_disk_give_the_same_copies():
    examples, engine = tiny_corpus(12), tiny_model("un_rat").engine()
    held = make_copies("semantic", examples, examples, 12, 0, "unicode", engine)
    assert make_copies("semantic", examples, examples, 12, 0, "unicode", engine, exact_vectors=1) == held


def test_the_recall_of_an_index_is_given():
    random = np.random.default_rng(0)
    vectors = random.standard_normal((1_200, 8), dtype=np.float32)
    ids, recalls = [f"{index:04d}" for index in range(1_200)], []
    exact = find_neighbors(vectors, ids, on_recall=recalls.append)
    assert recalls == []
    near = find_neighbors(vectors, ids, 1_000, recalls.append)
    (recall,) = recalls
    assert recall > 0.9
    assert np.mean([one == other for one, other in zip(exact, near, strict=True)]) > 0.9
