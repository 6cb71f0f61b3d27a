from __future__ import annotations

from dataclasses import astuple

import pytest

from rationalize.metrics.intervals import wilson
from rationalize.shortcuts.finder_score import FinderScore
from rationalize.shortcuts.finding import Discovered, choose_min_run, find_shortcut_spans, random_shortcuts
from rationalize.shortcuts.statistics import compare_with_truth, count_phrases, describe_shortcuts
from rationalize.text.words import word_mask, word_spans
from rationalize.types import Example, Explanation, Span

TEXT = "a b c d e f g h i j"


def explanation(selected: str, text: str = TEXT) -> Explanation:
    words = tuple(word_spans(text))
    chosen = tuple(mark == "x" for mark in selected)
    return Explanation(text, "P", {"P": 1.0}, (), words, tuple(map(float, chosen)), chosen, True, "un_rat")


def words(text: str, spans: tuple[Span, ...]) -> list[str]:
    return [text[span.start : span.end] for span in spans]


@pytest.mark.parametrize(
    ("selected", "gold", "min_run", "found"),
    [
        ("xxx.......", "..........", 3, ["a b c"]),
        ("xx........", "..........", 3, []),
        (".......xxx", "..........", 3, ["h i j"]),
        ("xxxxxxxxxx", "...xx.....", 3, ["a b c", "f g h i j"]),
        ("xxxxx.....", "..x.......", 3, []),
        ("xxxxx.....", "..x.......", 2, ["a b", "d e"]),
        ("xxxxxxxxxx", "xxxxxxxxxx", 1, []),
        ("xxx.xxx...", "..........", 3, ["a b c", "e f g"]),
    ],
)
def test_runs_of_selected_words_that_are_not_gold(selected, gold, min_run, found):
    all_words = word_spans(TEXT)
    spans = tuple(word for word, mark in zip(all_words, gold, strict=True) if mark == "x")
    assert words(TEXT, find_shortcut_spans(explanation(selected), spans, min_run)) == found


def found(label: str, index: int, *spans: Span, predicted: str | None = None) -> Discovered:
    return Discovered(
        Example(f"{label}{index}", TEXT, label, rationale=(Span(0, 1),)), spans, predicted or label
    )


def test_shortcuts_in_one_class_only_are_noticed():
    # The released Movies masks: 196 of 196 negatives have a shortcut, 1 of 204 positives.
    negative = [found("NEG", i, Span(4, 9)) for i in range(196)]
    positive = [found("POS", i) for i in range(203)] + [found("POS", 203, Span(4, 9))]
    numbers = describe_shortcuts(negative + positive, "unicode")
    assert numbers["by_class"]["NEG"]["n_with_shortcut"] == 196
    assert numbers["by_class"]["POS"]["n_with_shortcut"] == 1
    assert "reveals the label" in numbers["warnings"][0]
    assert "196 of 196 NEG" in numbers["warnings"][0]


def test_an_even_spread_gives_no_warning_and_none_at_all_gives_one():
    even = [found(label, i, Span(4, 9)) for label in ("NEG", "POS") for i in range(20)]
    assert describe_shortcuts(even, "unicode")["warnings"] == []
    assert describe_shortcuts(even, "unicode")["n_shortcuts"] == 40
    none = [found(label, i) for label in ("NEG", "POS") for i in range(20)]
    assert "No shortcut was found" in describe_shortcuts(none, "unicode")["warnings"][0]


def rows_of(*phrases: str, n: int = 400) -> list[Discovered]:
    """As many examples as asked for, of which the first have one of the phrases each."""
    made = []
    for index in range(n):
        text = f"{phrases[index] if index < len(phrases) else 'nothing here'} and so on"
        spans = (Span(0, len(phrases[index])),) if index < len(phrases) else ()
        made.append(Discovered(Example(str(index), text, "NP"[index % 2], rationale=()), spans, "N"))
    return made


def test_a_handful_of_phrases_each_seen_once_is_no_result():
    numbers = describe_shortcuts(rows_of(*(f"w{i} x{i} y{i}" for i in range(13))), "unicode")
    assert (numbers["n_shortcuts"], numbers["n_repeated"]) == (13, 0)
    few, single = numbers["warnings"]
    assert few.startswith(
        "Only 13 of 400 examples have a shortcut: SSR's uniform and virtual losses will have"
    )
    assert "0 of 13 share 3 words with one of another example" in single


def test_phrases_that_share_a_run_repeat_whatever_stands_beside_it():
    numbers = describe_shortcuts(rows_of(*(f"as i said w{i}" for i in range(40))), "unicode", 3)
    assert (numbers["n_repeated"], numbers["warnings"]) == (40, [])
    # The same phrase twice in one text is no habit of many.
    twice = Discovered(Example("1", "go on go on", "N", rationale=()), (Span(0, 5), Span(6, 11)))
    assert describe_shortcuts([twice], "unicode", 2)["n_repeated"] == 0


@pytest.mark.parametrize(("words", "run"), [(5, 1), (13, 1), (30, 2), (59, 2), (60, 3), (500, 3)])
def test_the_shortest_run_follows_the_length_of_the_texts(words, run):
    texts = [Example(str(i), "a " * size, "N") for i, size in enumerate((1, words, 900))]
    assert choose_min_run(texts, "unicode") == run


def test_the_interval_of_a_share():
    assert astuple(wilson(5 / 10, 10)) == pytest.approx(
        (0.2366, 0.7634), abs=1e-4
    )  # textbook values of Wilson's
    assert astuple(wilson(0 / 20, 20)) == pytest.approx((0, 0.1611), abs=1e-4)
    assert wilson(20 / 20, 20).high == pytest.approx(1)


def test_a_finder_that_guesses_is_noticed():
    def warnings_with(hits: int) -> list[str]:
        score = FinderScore(100, hits / 100, *astuple(wilson(hits / 100, 100)), majority=0.55)
        rows = rows_of(*["as i said"] * 100, n=100)
        return describe_shortcuts(rows, "unicode", 3, score)["warnings"]

    assert warnings_with(80) == []
    assert warnings_with(60)[0].startswith("The finder is no better than chance: its label is right in 60.0%")


def test_phrases_are_counted_without_case_and_spacing():
    rows = [
        Discovered(Example("1", "It  Was Cold", "NEG"), (Span(0, 12),), "NEG"),
        Discovered(Example("2", "so it was\ncold", "POS"), (Span(3, 14),), "POS"),
    ]
    assert count_phrases(rows) == [{"phrase": "it was cold", "n": 2, "by_class": {"NEG": 1, "POS": 1}}]


def test_precision_and_recall_against_known_shortcuts():
    rows = [found("NEG", 0, Span(0, 5))]  # a b c
    truth = [Example("NEG0", TEXT, "NEG", shortcuts=(Span(2, 9),))]  # b c d e
    assert compare_with_truth(rows, truth, "unicode") == {"precision": 2 / 3, "recall": 2 / 4}


def test_random_control_keeps_number_and_lengths_and_avoids_gold():
    rows = [found("NEG", i, Span(4, 9), Span(12, 17)) for i in range(20)]
    moved = random_shortcuts(rows, 1, "unicode")
    assert moved == random_shortcuts(rows, 1, "unicode")
    assert moved != rows
    for each in moved:
        lengths = sorted(sum(word_mask(word_spans(TEXT), [span])) for span in each.shortcuts)
        assert lengths == [3, 3]
        assert all(span.start >= 2 for span in each.shortcuts)
