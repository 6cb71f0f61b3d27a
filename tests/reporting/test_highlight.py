from __future__ import annotations

import io
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from rationalize.printable import make_printable
from rationalize.reporting.highlight import explanation_html, explanation_text
from rationalize.reporting.layers import Layer, cut_segments
from rationalize.reporting.marks import LOOKS, to_html, to_plain, to_terminal
from rationalize.types import Explanation, Span

CROSSING = {Layer.SELECTED: [Span(0, 4)], Layer.GOLD: [Span(2, 6)], Layer.SHORTCUT: [Span(4, 6)]}


class Reader(HTMLParser):
    """Collects the elements, the attributes and the visible text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(str(page))

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def printed(renderable, **settings):
    console = Console(file=io.StringIO(), width=100, **settings)
    console.print(renderable)
    return console.file.getvalue()


def test_html_nests_layers_that_cross():
    assert to_html(cut_segments("abcdef", CROSSING)) == (
        "<mark>ab</mark><u><mark>cd</mark></u>"
        '<span class="shortcut"><b class="sign">⟨</b><u>ef</u><b class="sign">⟩</b></span>'
    )


def test_plain_text_has_a_bracket_for_each_layer():
    assert to_plain(cut_segments("abcdef", CROSSING)) == "[ab{cd]⟨ef}⟩"


def test_layers_are_distinct_without_color():
    assert len({look.plain for look in LOOKS.values()}) == len(LOOKS)
    without_color = [(look.style.replace(" black on yellow", ""), look.shown) for look in LOOKS.values()]
    assert len(set(without_color)) == len(LOOKS)
    assert ("", ("", "")) not in without_color


def test_hostile_text_is_text_in_html(hostile, hostile_example):
    page = Reader(
        explanation_html(hostile, gold=hostile_example.rationale, shortcuts=hostile_example.shortcuts)
    )
    assert page.tags <= {"div", "style", "p", "bdi", "mark", "u", "span", "b", "i"}
    assert page.attributes <= {"class", "dir"}
    marked = Reader(to_html(cut_segments(hostile.text, {Layer.SELECTED: hostile.spans})))
    assert marked.text == make_printable(hostile.text)


def test_hostile_text_sends_no_code_to_a_terminal(hostile):
    assert "\x1b" not in to_terminal(cut_segments(hostile.text, {Layer.SELECTED: hostile.spans})).plain
    assert "\x1b" not in printed(explanation_text(hostile), color_system=None)


def test_html_says_label_probability_faithfulness_and_amount(explanation):
    text = " ".join(Reader(explanation_html(explanation)).text.split())
    for fact in ("POS 90.0 %", "NEG 10.0 %", "faithful: the label depends", "2 of 4 words selected (50.0 %)"):
        assert fact in text
    assert "marked by people" not in text


def test_legend_names_the_layers_that_are_there(explanation):
    text = Reader(explanation_html(explanation, gold=[Span(0, 1)])).text
    assert "selected by the model" in text
    assert "marked by people" in text
    assert "shortcut" not in text.split("}")[-1]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"color_system": None}, "a [truly gripping] film"),
        ({"force_terminal": True, "color_system": "standard"}, "\x1b[1;30;43m"),
    ],
)
def test_terminal_styles_or_brackets(explanation, settings, expected):
    assert expected in printed(explanation_text(explanation), **settings)


def test_explanation_itself_prints_and_shows(explanation):
    assert "[truly gripping]" in printed(explanation, color_system=None)
    assert explanation._repr_html_() == explanation_html(explanation)


def test_an_empty_text_can_be_shown(explanation):
    from dataclasses import replace

    empty = replace(explanation, text="", spans=(), words=(), scores=(), selected=())
    assert "0 of 0 words" in explanation_html(empty)
    assert "0 of 0 words" in printed(explanation_text(empty))


def test_a_method_that_was_given_the_gold_label_is_never_shown_without_it(explanation):
    unfair = replace(explanation, oracle_label=True)
    assert "semi_rat (given the gold label)" in explanation_html(unfair)
    assert "semi_rat (given the gold label), faithful" in "\n".join(explanation_text(unfair).facts())
    assert "gold label" not in explanation_html(explanation)
    assert Explanation.from_dict(unfair.to_dict()) == unfair


def test_how_sure_a_label_is_and_that_somebody_should_look_are_shown(explanation):
    unsure = replace(
        explanation,
        confidence=0.543,
        from_full_text={"NEG": 0.6, "POS": 0.4},
        from_rationale={"NEG": 0.2, "POS": 0.8},
    )
    said = "confidence 54.3\u00a0%; review: full text and rationale give different labels"
    assert said in explanation_text(unsure).facts()
    assert said in explanation_html(unsure)
    plain = replace(explanation, confidence=None, from_full_text=None, from_rationale=None)
    assert not [each for each in explanation_text(plain).facts() if "confidence" in each or "review" in each]
    assert "confidence" not in Reader(explanation_html(plain)).text
