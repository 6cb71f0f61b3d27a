from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from helpers import tiny_corpus
from rationalize.augment.exchange import exchange_shortcuts
from rationalize.shortcuts.phrase_search import suspect
from rationalize.text.replace import replace_spans
from rationalize.types import Document, Example, Span


def cut(example: Example, spans) -> list[str]:
    return [example.text[span.start : span.end] for span in spans or ()]


@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=8), st.text(max_size=8))
def test_spans_around_a_replacement_keep_their_words(before, after, old, new):
    text = f"{before}|{old}|{after}"
    place = Span(len(before) + 1, len(before) + 1 + len(old))
    example = Example(
        "a",
        text,
        "POS",
        rationale=(Span(0, len(before)), Span(place.end + 1, len(text))),
        shortcuts=(place,),
        documents=(Document("whole", 0, len(text)),),
    )
    changed = replace_spans(example, {place: new})
    assert changed.text == f"{before}|{new}|{after}"
    assert cut(changed, changed.rationale) == [before, after]
    assert (changed.documents[0].start, changed.documents[0].end) == (0, len(changed.text))
    if old:
        assert cut(changed, changed.shortcuts) == [new]


def test_shortcuts_are_as_frequent_as_before_and_no_longer_tell_the_label():
    examples = tiny_corpus(400)
    changed = exchange_shortcuts(examples, seed=3)
    count = Counter(phrase for each in examples for phrase in cut(each, each.shortcuts))
    assert Counter(phrase for each in changed for phrase in cut(each, each.shortcuts)) == count
    assert [cut(each, each.rationale) for each in changed] == [cut(each, each.rationale) for each in examples]
    assert [(each.id, each.label) for each in changed] == [(each.id, each.label) for each in examples]
    assert any(each.shortcuts for each in suspect(examples, "whitespace"))
    assert not any(each.shortcuts for each in suspect(changed, "whitespace"))


def test_a_shortcut_that_touches_gold_stays():
    kept = Example("a", "so it goes on", "POS", rationale=(Span(3, 5),), shortcuts=(Span(0, 5),))
    others = [
        Example(str(i), f"{word} then", "NEG", shortcuts=(Span(0, 3),))
        for i, word in enumerate(("one", "two"))
    ]
    changed = exchange_shortcuts([kept, *others], seed=0)
    assert changed[0] == kept
    assert sorted(each.text for each in changed[1:]) == ["one then", "two then"]
