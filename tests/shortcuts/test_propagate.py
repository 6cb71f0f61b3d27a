from __future__ import annotations

import numpy as np
import pytest

from rationalize.inference.vectors import Represented
from rationalize.shortcuts.nearest import Neighborhood, build_neighborhood
from rationalize.shortcuts.propagate import PhraseBook, phrases_to_carry
from rationalize.types import Example, Span


def gold(id: str, marked: str, rationale: str = "") -> Example:
    """An annotated example; `marked` has its shortcuts in [ ], the first words that spell `rationale` are gold."""
    spans, text = [], ""
    for piece in marked.split():
        if piece == "[":
            spans.append(len(text))
        elif piece == "]":
            spans[-1] = Span(spans[-1], len(text) - 1)
        else:
            text += f"{piece} "
    at = text.find(rationale) if rationale else -1
    return Example(
        id,
        text,
        "POS",
        rationale=(Span(at, at + len(rationale)),) if rationale else (),
        shortcuts=tuple(spans),
    )


def found(book: PhraseBook, text: str) -> list[str]:
    return [text[span.start : span.end] for span in book.spans(text)]


BOOK = PhraseBook([("won", "the", "prize"), ("the", "prize", "money"), ("a", "b", "a")], "whitespace")


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("it won the prize again", ["won the prize"]),
        ("It WON  the\nPrize, again", ["WON  the\nPrize,"]),
        ("it won the prizes", []),
        ("it rewon the prize", []),
        ("it won the big prize", []),
        ("won the", []),
        ("won the prize and won the prize", ["won the prize", "won the prize"]),
        ("won the prize won the prize", ["won the prize won the prize"]),
        ("won the prize money", ["won the prize money"]),
        ("a b a b a c", ["a b a b a"]),
        ("", []),
    ],
)
def test_a_phrase_is_found_as_whole_words_in_any_case(text, spans):
    assert found(BOOK, text) == spans


def test_only_phrases_of_enough_examples_are_carried():
    examples = [
        gold("1", "it [ won the prize ] and [ sold very well ]"),
        gold("2", "[ Won the prize, ] [ left in spring ] [ left in spring ]"),
        gold("3", "it [ won the prize today ]"),
    ]
    assert phrases_to_carry(examples, 1, "whitespace").phrases == (
        ("left", "in", "spring"),
        ("sold", "very", "well"),
        ("won", "the", "prize"),
        ("won", "the", "prize", "today"),
    )
    # Twice in one example is once; a longer run is another phrase.
    assert phrases_to_carry(examples, 2, "whitespace").phrases == (("won", "the", "prize"),)
    assert phrases_to_carry(examples, 3, "whitespace").phrases == ()


def test_what_people_marked_anywhere_is_not_carried():
    examples = [gold(str(i), "a [ warm and clever ] film [ shown in spring ] here") for i in range(2)]
    assert len(phrases_to_carry(examples, 2, "whitespace").phrases) == 2
    other = gold("3", "Warm and clever writing", rationale="clever writing")
    assert phrases_to_carry([*examples, other], 2, "whitespace").phrases == (("shown", "in", "spring"),)


def vectors(*rows: tuple[float, float], unread: int | None = None) -> Represented:
    words = np.array(rows, dtype=np.float32)
    read = np.arange(len(rows)) != (len(rows) if unread is None else unread)
    return Represented(words.mean(0), words, read)


def test_the_radius_holds_nearly_all_discovered_runs_and_one_alone_has_none():
    examples = [gold(str(i), "[ x y ] z") for i in range(2)] + [gold("3", "[ p q r ]")]
    near = build_neighborhood(
        examples,
        [vectors((0, 0), (2, 0), (9, 9)), vectors((0, 4), (2, 4), (9, 9)), vectors((5, 5), (5, 5), (5, 5))],
        PhraseBook([("x", "y"), ("p", "q", "r")], "whitespace"),
    )
    assert {length: rows.tolist() for length, rows in near.centers.items()} == {2: [[1, 2]], 3: [[5, 5]]}
    assert near.radius == pytest.approx(2)
    alone = build_neighborhood(
        examples[2:], [vectors((5, 5), (5, 5), (5, 5))], PhraseBook([("p", "q", "r")], "whitespace")
    )
    assert alone.radius == 0


def test_near_runs_are_taken_nearest_first_and_not_over_others():
    near = Neighborhood({2: np.array([[0, 0]], dtype=np.float32)}, 1.0)
    row = vectors((9, 9), (0.6, 0), (0, 0), (0.2, 0), (9, 9), (0, 0.5), (0, 0.5))
    assert near.mark(row, [False] * 7) == [False, False, True, True, False, True, True]
    taken = [False, False, False, True, False, False, False]
    assert near.mark(row, taken) == [False, True, True, True, False, True, True]
    assert near.mark(vectors((0, 0), (0, 0), unread=1), [False, False]) == [False, False]
    assert near.mark(vectors((0, 0)), [False]) == [False]
