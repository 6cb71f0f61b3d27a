from __future__ import annotations

import ast
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rationalize
from rationalize.text.words import (
    find_runs,
    find_words_in,
    has_words,
    mask_spans,
    word_mask,
    word_spans,
    would_merge,
)
from rationalize.types import Span

WHITE_SPACE = " \t\n\r\f\v"
NASTY = "aé ,.\t\r\n\v\f\u00a0\u2028\u3000日本かไทยกำ\u0301\u3099👍🏽👧\u200d\ufe0f\x00\U00020000"
alphabet = st.sampled_from(NASTY) | st.characters()
texts = st.text(alphabet, max_size=60)


RULES = st.sampled_from(["unicode", "whitespace"])


def words_of(text, rule="whitespace"):
    return [text[span.start : span.end] for span in word_spans(text, rule)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\r\n\v\f", []),
        ("one two", ["one", "two"]),
        ("a\r\nb\n\nc", ["a", "b", "c"]),
        ("a\u00a0b c", ["a\u00a0b", "c"]),
        ("cafe\u0301 noir", ["cafe\u0301", "noir"]),
        ("so 👩‍👩‍👧 nice", ["so", "👩‍👩‍👧", "nice"]),
        ("日本語です", ["日", "本", "語", "で", "す"]),
        ("映画は A24 です", ["映", "画", "は", "A24", "で", "す"]),
        ("the word 日本 is Japanese", ["the", "word", "日本", "is", "Japanese"]),
        ("か\u3099き", ["か\u3099", "き"]),
    ],
)
def test_words(text, words):
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \u00a0\u2028\u200b\ufeff\x00", []),
        ("a nice day, friend.", "a nice day , friend ."),
        ('"so (very) good"', '" so ( very ) good "'),
        ("wait... what?! no!!!", "wait ... what ? ! no !!!"),
        ("I don't, I won`t, we’re", "I don't , I won`t , we’re"),
        ("the dogs' 'tis", "the dogs ' ' tis"),
        ("well-known, AT&T -- snake_case _x_", "well-known , AT&T -- snake_case _ x _"),
        ("the U.S. at 5 p.m. e.g. now.", "the U.S. at 5 p.m. e.g. now ."),
        (
            "great.But 3.5, 1,000.50 at 10:30 and/or 24/7.",
            "great . But 3.5 , 1,000.50 at 10:30 and / or 24/7 .",
        ),
        ("#tag, @some_one: hi", "#tag , @some_one : hi"),
        ("(see http://a.b/c?d=1, www.x.org/y).", "( see http://a.b/c?d=1 , www.x.org/y ) ."),
        ("me@mail.co.uk, amazon.com.", "me@mail.co.uk , amazon.com ."),
        ("ok :) :-( <3 :D", "ok :) :-( <3 :D"),
        ("👍🏽👍🏽 👩‍👩‍👧! 🇩🇪🇫🇷 1️⃣", "👍🏽👍🏽 👩‍👩‍👧 ! 🇩🇪 🇫🇷 1️⃣"),
        ("日本, de", "日 本 , de"),
        ("cafe\u0301 हिन्दी می\u200cخواهم", "cafe\u0301 हिन्दी می\u200cخواهم"),
        ("a\u00a0b good\u200bfilm", "a b good film"),
    ],
)
def test_words_by_unicode(text, words):
    assert words_of(text, "unicode") == (words.split(" ") if words else [])


@pytest.mark.parametrize(
    "piece",
    [
        "a+",
        "a.",
        "a-",
        "a'",
        "a@",
        "1,",
        "http://",
        "http://.,",
        "www.",
        "a.b",
        "a.com-",
        "😂😃",
        "\u200d",
        "#",
        "a.b.",
        "(",
    ],
)
def test_words_of_a_hostile_text_are_found_in_linear_time(piece):
    """Were it quadratic, this would take minutes."""
    text = piece * 30_000
    assert sum(len(word) for word in words_of(text, "unicode")) <= len(text)


@settings(deadline=None)
@given(texts, RULES)
def test_words_are_in_order_apart_and_without_white_space(text, rule):
    spans = word_spans(text, rule)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    assert all(span.start < span.end for span in spans)
    assert not any(character in WHITE_SPACE for word in words_of(text, rule) for character in word)


@settings(deadline=None)
@given(texts)
def test_words_by_unicode_leave_out_only_what_cannot_be_seen(text):
    inside = {at for span in word_spans(text, "unicode") for at in range(span.start, span.end)}
    left_out = {text[at] for at in set(range(len(text))) - inside}
    assert all(
        each.isspace() or unicodedata.category(each) in {"Cc", "Cf", "Zl", "Zp", "Zs"} for each in left_out
    )
    assert has_words(text) == bool(inside)


def test_words_that_would_read_as_one():
    assert would_merge("slow", "dull")
    assert would_merge("!", "!!")
    assert not would_merge("slow", ",")
    assert not would_merge("日", "本")


def test_every_call_in_the_package_says_which_words_are_meant():
    """A forgotten rule would cut the words of a part of the work in another way than those of the rest."""
    position = {"word_spans": 2, "split_words": 2}
    bare = []
    for path in Path(rationalize.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            given = {each.arg for each in node.keywords} if name else set()
            if name in position and len(node.args) < position[name] and "words" not in given:
                bare.append((path.name, node.lineno))
            if name in {"TextEncoder", "ModelConfig"} and "words" not in given:
                bare.append((path.name, node.lineno))
    assert bare == []


@settings(deadline=None)
@given(texts)
def test_words_leave_nothing_out_but_white_space(text):
    kept = "".join(words_of(text))
    assert kept == "".join(character for character in text if character not in WHITE_SPACE)


@settings(deadline=None)
@given(st.text(st.sampled_from("ab ,\n\r\t\u00a0é"), max_size=60))
def test_words_of_spaced_scripts_are_the_tokens_of_an_ascii_split(text):
    tokens = text.encode("utf-8").split()
    assert [word.encode("utf-8") for word in words_of(text)] == tokens


@settings(deadline=None)
@given(texts, st.integers(0, 60), st.integers(0, 60), RULES)
def test_words_in_are_those_that_share_a_character(text, one, other, rule):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    words = word_spans(text, rule)
    by_hand = [i for i, word in enumerate(words) if set(range(word.start, word.end)) & set(range(start, end))]
    assert list(find_words_in(words, Span(start, end))) == by_hand


@settings(deadline=None)
@given(texts, st.data(), RULES)
def test_a_mask_becomes_spans_and_comes_back(text, data, rule):
    words = word_spans(text, rule)
    mask = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    spans = mask_spans(words, mask)
    assert word_mask(words, spans) == mask
    assert len(spans) == len(find_runs(mask))


@pytest.mark.parametrize(
    ("mask", "expected"),
    [("", []), ("0", []), ("1", [(0, 1)]), ("0110", [(1, 3)]), ("101", [(0, 1), (2, 3)]), ("111", [(0, 3)])],
)
def test_runs(mask, expected):
    assert find_runs(character == "1" for character in mask) == expected
