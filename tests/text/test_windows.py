"""Windows of every tokenizer family on every kind of text: nothing lost, nothing twice, nothing out of place."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rationalize.text import _piece_table
from rationalize.text.windows import TextEncoder
from rationalize.text.words import WHITE_SPACE, find_words_in, word_spans
from rationalize.types import Example, Span
from searches import search
from small_tokenizers import FAMILIES, byte_level, unigram

untimed = search(60)

ODD = [
    *" \n\t\r", "\r\n", "\u00a0", "\u3000", "\u200b", "\u200d", "\ufeff", "\x00", "\x1f",
    "e\u0301", "é", "ﬁ", "Ⅷ", "ß", "İ", "\u0301", "\u0e01\u0e34",
    "🎉", "👍🏽", "👩\u200d👩\u200d👧", "🇩🇪", "\U0001d54f",
    "東", "京", "都", "东京", "カ", "ガ", "한글", "สวัสดี", "ע", "ال",
    "the ", "acting ", "unbearably", "[SEP]", "<s>", "##x", "▁", "x" * 120, "don't", "3.14",
]  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(ODD), max_size=40).map("".join), st.text(max_size=60))
QUERIES = st.one_of(st.none(), TEXTS)
FAMILY = st.sampled_from(sorted(FAMILIES))
RULE = st.sampled_from(["unicode", "whitespace"])


def encode(
    family, text, *, query=None, max_tokens=16, truncate=False, overlap=None, use_query=True, words="unicode"
):
    tokenizer = FAMILIES[family]()
    cutter = TextEncoder(tokenizer, max_tokens, use_query=use_query, overlap=overlap, words=words)
    return cutter.encode(Example("x", text, query=query), truncate=truncate)


def plain_pieces(family, text):
    """The whole text as its tokenizer cuts it, without windows or specials."""
    return FAMILIES[family]()(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]


def owned_ids(encoded):
    return [int(each) for window in encoded.windows for each in window.input_ids[window.owned]]


@untimed
@given(
    family=FAMILY,
    text=TEXTS,
    query=QUERIES,
    max_tokens=st.integers(8, 40),
    overlap=st.none() | st.integers(0, 30),
)
def test_every_piece_of_the_text_is_owned_once_and_in_order(family, text, query, max_tokens, overlap):
    encoded = encode(family, text, query=query, max_tokens=max_tokens, overlap=overlap)
    assert owned_ids(encoded) == plain_pieces(family, text)
    for window in encoded.windows:
        assert not (window.owned & ~window.selectable).any()


@untimed
@given(family=FAMILY, text=TEXTS, query=QUERIES, max_tokens=st.integers(8, 40))
def test_windows_fit_and_only_the_document_is_selectable(family, text, query, max_tokens):
    encoded = encode(family, text, query=query, max_tokens=max_tokens)
    tokenizer = FAMILIES[family]()
    frame = tokenizer("", "") if query else tokenizer("")
    for window in encoded.windows:
        assert len(window) <= max_tokens
        hidden = window.input_ids[~window.selectable].tolist()
        assert hidden[0] == frame["input_ids"][0]
        if not query:
            assert hidden == frame["input_ids"]  # specials and nothing else
        elif family != "unigram_llama":
            assert hidden[-1] == frame["input_ids"][-1]
        outside = ~window.selectable
        assert (window.words[outside] == -1).all()
        assert (window.starts[outside] == 0).all()
        assert (window.ends[outside] == 0).all()


@untimed
@given(family=FAMILY, text=TEXTS, max_tokens=st.integers(8, 40), rule=RULE)
def test_offsets_lie_in_the_text_and_agree_with_words(family, text, max_tokens, rule):
    encoded = encode(family, text, max_tokens=max_tokens, words=rule)
    assert encoded.words == tuple(word_spans(text, rule))
    for window in encoded.windows:
        for at in np.flatnonzero(window.selectable):
            start, end = int(window.starts[at]), int(window.ends[at])
            assert 0 <= start <= end <= len(text)
            assert text[start:end].strip(WHITE_SPACE) == text[start:end]
            reached = list(find_words_in(encoded.words, Span(start, end)))
            if reached:
                assert reached == list(range(window.words[at], window.last_words[at] + 1))
            elif encoded.words:
                following = [i for i, word in enumerate(encoded.words) if word.end > start]
                assert window.words[at] == (following[0] if following else len(encoded.words) - 1)


def kept(family, character):
    """Whether the family's normalizer leaves anything of a character that stands alone."""
    if family == "wordpiece":
        rest = [c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn"]
        return any(unicodedata.category(c)[0] not in "CZ" for c in rest)
    # NFKC joins marks with the letter before them; the joined piece lies on the letter.
    return not unicodedata.category(character).startswith("M") or not family.startswith("unigram")


COVERED = [each for each in ODD if each not in {"한글", "ガ"}]  # NFKC may join these with what follows


@untimed
@given(
    family=FAMILY,
    text=st.lists(st.sampled_from(COVERED), max_size=40).map("".join),
    max_tokens=st.integers(8, 40),
    rule=RULE,
)
@example(family="unigram", text="東京都に住んでいます", max_tokens=40, rule="unicode")
@example(family="byte_level", text="東京都 東京都", max_tokens=8, rule="whitespace")
def test_every_character_that_was_not_dropped_is_covered(family, text, max_tokens, rule):
    encoded = encode(family, text, max_tokens=max_tokens, words=rule)
    covered = np.zeros(len(text), dtype=bool)
    reached = set()
    for window in encoded.windows:
        for start, end in zip(window.starts[window.owned], window.ends[window.owned], strict=True):
            covered[start:end] = True
        reached |= set(window.pair_pieces_with_words()[1].tolist())
    for at, character in enumerate(text):
        if character not in WHITE_SPACE and kept(family, character):
            assert covered[at], (at, character)
            own = find_words_in(encoded.words, Span(at, at + 1))
            assert set(own) <= reached
            assert own or rule == "unicode"  # by which invisible characters lie between words


@untimed
@given(family=FAMILY, text=TEXTS, query=QUERIES, max_tokens=st.integers(8, 40))
def test_truncation_keeps_the_first_window_and_says_what_was_cut(family, text, query, max_tokens):
    whole = encode(family, text, query=query, max_tokens=max_tokens)
    first = encode(family, text, query=query, max_tokens=max_tokens, truncate=True)
    (window,) = first.windows
    assert window.input_ids.tolist() == whole.windows[0].input_ids.tolist()
    assert (window.owned == window.selectable).all()
    assert whole.cut_off is None
    assert whole.n_words_read == len(whole.words)
    read_until = int(window.ends.max())
    if first.cut_off is None:
        assert first.n_words_read == len(first.words)
        if len(whole.windows) > 1:
            assert not text[read_until:].strip(WHITE_SPACE)
    else:
        assert len(whole.windows) > 1
        assert first.cut_off == Span(read_until, len(text))
        assert first.n_words_read == sum(word.start < read_until for word in first.words)


def test_a_word_cut_in_the_middle_counts_as_read():
    text = "very good unbearableness here"
    encoded = encode("wordpiece", text, max_tokens=8, truncate=True, query="a b")
    assert encoded.windows[0].ends.max() == len("very good unbearable")
    assert encoded.n_words_read == 3
    assert encoded.cut_off == Span(len("very good unbearable"), len(text))


@untimed
@given(family=FAMILY, query=st.lists(st.sampled_from(ODD), min_size=30, max_size=60).map("".join))
@example(family="byte_level", query="🎉👩\u200d👩\u200d👧" * 20)
def test_a_long_query_leaves_half_of_the_room_to_the_document(family, query):
    text = "the acting is superb " * 10
    for max_tokens in (8, 13, 32):
        encoded = encode(family, text, query=query, max_tokens=max_tokens)
        specials = FAMILIES[family]().num_special_tokens_to_add(pair=True)
        assert encoded.windows[0].selectable.sum() >= (max_tokens - specials) // 2
        assert owned_ids(encoded) == plain_pieces(family, text)


def test_a_query_is_read_only_if_wanted():
    text = "the acting is superb"
    ignored = encode("wordpiece", text, query="is it good ?", use_query=False)
    assert ignored.windows[0].input_ids.tolist() == encode("wordpiece", text).windows[0].input_ids.tolist()
    window = encode("wordpiece", text, query="is it good ?").windows[0]
    pieces = FAMILIES["wordpiece"]().convert_ids_to_tokens(window.input_ids)
    assert pieces == ["[CLS]", "is", "it", "good", "?", "[SEP]", "the", "acting", "is", "superb", "[SEP]"]
    assert [piece for piece, own in zip(pieces, window.selectable, strict=True) if own] == text.split()
    assert window.token_types.tolist() == [0] * 6 + [1] * 5


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", ["", " ", "\n\t \r\n"])
def test_a_text_without_words_is_one_window_without_words(family, text):
    encoded = encode(family, text, query="why ?")
    assert len(encoded.windows) == 1
    assert encoded.words == ()
    assert (encoded.windows[0].words == -1).all()
    assert encoded.windows[0].pair_pieces_with_words()[0].size == 0
    assert encoded.cut_off is None


def test_every_table_of_a_text_is_made_once_however_many_windows_it_has(monkeypatch):
    """Not for every window: the time to explain would grow with the square of the length."""
    scanned = dict.fromkeys(("find_word_bounds", "find_sentences"), 0)

    def count(name):
        inner = getattr(_piece_table, name)

        def counting(text, *rest):
            scanned[name] += len(text)
            return inner(text, *rest)

        monkeypatch.setattr(_piece_table, name, counting)

    for name in scanned:
        count(name)
    for n_words in (40, 400, 4000):
        text = "the acting is superb . " * (n_words // 5)
        scanned.update(dict.fromkeys(scanned, 0))
        encoded = encode("byte_level", text, max_tokens=16)
        assert len(encoded.windows) > n_words // 16
        assert set(scanned.values()) == {len(text)}


def test_the_tokenizer_gets_many_characters_together_and_few_one_by_one():
    cutter = TextEncoder(byte_level(), 16)
    asked = []

    class Counting:
        def encode(self, text, **arguments):
            asked.append(1)
            return core.encode(text, **arguments)

        def encode_batch(self, texts, **arguments):
            asked.append(len(texts))
            return core.encode_batch(texts, **arguments)

    core, cutter._core = cutter._core, Counting()
    examples = [Example(str(i), "the plot is thin " * i, query=f"is it {i % 3} ?") for i in range(30)]
    together = cutter.encode_all(examples, truncate=False)
    assert asked == [1, 1, 1, 30]  # each query once, then all texts, which are long
    for each, found in zip(examples, together, strict=True):
        alone = cutter.encode(each, truncate=False)
        assert [w.input_ids.tolist() for w in alone.windows] == [w.input_ids.tolist() for w in found.windows]


def test_a_text_cannot_pretend_to_be_structure():
    tokenizer = FAMILIES["wordpiece"]()
    window = encode("wordpiece", "a [SEP] b [MASK]", query="[SEP]", max_tokens=32).windows[0]
    assert (window.input_ids == tokenizer.sep_token_id).sum() == 2
    assert tokenizer.mask_token_id not in window.input_ids


def test_overlaps_go_to_the_window_that_sees_more_around_them():
    text = " ".join(["the"] * 40)
    encoded = encode("wordpiece", text, max_tokens=12, overlap=4)
    first, second, *_, last = encoded.windows
    assert len(first) == 12
    owned = [np.flatnonzero(window.owned[window.selectable]).tolist() for window in (first, second, last)]
    assert owned[0] == list(range(8))  # 10 pieces, the last 2 of the 4 shared ones left to the right
    assert owned[1] == list(range(2, 8))
    assert owned[2][0] == 2


def test_pieces_that_are_partly_in_a_span_are_touched():
    text = "an unbearably slow film"
    window = encode("wordpiece", text, max_tokens=32).windows[0]
    pieces = [text[s:e] for s, e in zip(window.starts, window.ends, strict=True)]
    inside_slow = Span(text.index("low"), text.index("low") + 1)
    assert [p for p, touched in zip(pieces, window.mark_pieces((inside_slow,)), strict=True) if touched] == [
        "slow"
    ]
    assert not window.mark_pieces((Span(2, 3),)).any()  # the space between two words is nobody's
    assert not window.mark_pieces(()).any()
    everything = window.mark_pieces((Span(0, len(text)),))
    assert (everything == window.selectable).all()


@untimed
@given(
    family=FAMILY,
    text=TEXTS,
    bounds=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=3),
)
def test_touches_is_sharing_a_character(family, text, bounds):
    spans = tuple(Span(min(pair), max(pair)) for pair in bounds)
    for window in encode(family, text).windows:
        touched = window.mark_pieces(spans)
        for at in np.flatnonzero(window.selectable & (window.starts < window.ends)):
            own = set(range(window.starts[at], window.ends[at]))
            assert touched[at] == any(own & set(range(span.start, span.end)) for span in spans)
        assert not touched[~window.selectable].any()


def test_one_piece_may_hold_several_words_of_unspaced_text():
    text = "東京都に住んでいます"
    window = encode("unigram", text, max_tokens=40).windows[0]
    tokenizer = unigram()
    assert "▁東京都" in tokenizer.convert_ids_to_tokens(window.input_ids)
    pieces, words = window.pair_pieces_with_words()
    assert sorted(set(words.tolist())) == list(range(len(text)))
    assert (window.last_words > window.words).any()
    assert len(pieces) == len(words)


def test_offsets_do_not_depend_on_how_a_tokenizer_counts_spaces():
    text = "the plot is\n thin"
    trimmed, raw = byte_level(trim=True), byte_level(trim=False)
    windows = [
        TextEncoder(each, 64).encode(Example("x", text), truncate=False).windows[0] for each in (trimmed, raw)
    ]
    words = [window.words[window.starts < window.ends].tolist() for window in windows]
    assert words[0] == words[1]
    covered = [{(s, e) for s, e in zip(w.starts, w.ends, strict=True) if s < e} for w in windows]
    assert covered[0] == covered[1]
