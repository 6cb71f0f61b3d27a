from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from helpers import tiny_corpus
from rationalize.augment.copies import augment_examples
from rationalize.augment.counterfactual import augment_counterfactual, check_evidence
from rationalize.errors import ConfigError
from rationalize.types import Example, Span


def cut(example: Example) -> list[str]:
    return [example.text[span.start : span.end] for span in example.rationale or ()]


def cut_out(example: Example) -> list[str]:
    """The text around the evidence."""
    ends = [0, *(each for span in example.rationale or () for each in (span.start, span.end))]
    return [example.text[a:b] for a, b in zip(ends[::2], [*ends[1::2], len(example.text)], strict=True)]


def test_evidence_and_label_change_together_and_nothing_else_does():
    examples = tiny_corpus(60)
    by_id = {each.id: each for each in examples}
    evidence = defaultdict(set)
    for each in examples:
        evidence[each.label].update(cut(each))
    copies = augment_counterfactual(examples, 150, seed=3)
    assert len({copy.id for copy in copies}) == len(copies) == 150
    for copy in copies:
        source = by_id[copy.id.split("~")[0]]
        assert set(cut(copy)) <= evidence[copy.label]
        assert len(cut(copy)) == len(cut(source))
        assert cut_out(copy) == cut_out(source)
        assert [copy.text[s.start : s.end] for s in copy.shortcuts or ()] == [
            source.text[s.start : s.end] for s in source.shortcuts or ()
        ]


def test_the_rest_of_a_text_tells_no_label():
    examples = [replace(each, label=label) for label in "abc" for each in tiny_corpus(4, seed=ord(label))]
    examples = [replace(each, id=f"{each.label}-{each.id}") for each in examples]
    copies = augment_counterfactual(examples, 5 * len(examples), seed=0)
    labels = defaultdict(Counter)
    for each in (*examples, *copies):
        labels[each.id.split("~")[0]][each.label] += 1
    assert all(count == dict.fromkeys("abc", 2) for count in labels.values())


def test_copies_depend_on_the_seed_alone():
    examples = tiny_corpus(20)
    assert augment_counterfactual(examples, 30, 1) == augment_counterfactual(examples[::-1], 30, 1)
    assert augment_counterfactual(examples, 30, 1) != augment_counterfactual(examples, 30, 2)


def test_marks_that_overlap_are_replaced_once_and_shortcuts_inside_them_are_forgotten():
    first = Example(
        "a",
        "so very good it is fine",
        "POS",
        rationale=(Span(3, 7), Span(5, 12)),
        shortcuts=(Span(8, 12), Span(19, 23)),
    )
    second = Example("b", "bad", "NEG", rationale=(Span(0, 3),))
    nothing = Example("c", "hm", "NEG", rationale=())
    copies = {copy.id: copy for copy in augment_counterfactual([first, second, nothing], 2, 0)}
    changed = copies["a~counterfactual0"]
    assert (changed.text, changed.label) == ("so bad it is fine", "NEG")
    assert cut(changed) == ["bad"]
    assert [changed.text[s.start : s.end] for s in changed.shortcuts] == ["fine"]
    assert copies["b~counterfactual0"].text == "very good"


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([replace(each, query=each.id) for each in tiny_corpus(8)], "have queries"),
        ([replace(each, rationale=None) for each in tiny_corpus(8)], "no example has gold words"),
        ([each for each in tiny_corpus(8) if each.label == "POS"], "saw only 'POS'"),
    ],
)
def test_evidence_that_cannot_be_exchanged_is_refused(examples, message):
    with pytest.raises(ConfigError, match=message):
        check_evidence(examples)
    with pytest.raises(ConfigError, match=message):
        augment_examples(examples, "counterfactual")


def test_one_query_for_all_is_none():
    check_evidence([replace(each, query="Is it good?") for each in tiny_corpus(8)])
