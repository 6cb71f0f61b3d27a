"""Hostile texts, labels, ids and queries through every sink: they stay text, everywhere."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console

from rationalize.corpus.part_formats import to_csv
from rationalize.printable import guard_formula, make_json_printable
from rationalize.reporting.highlight import explanation_html, explanation_text
from rationalize.reporting.report import ExampleView, Report, render_report
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.reporting.terminal import guard_console
from rationalize.text.words import mask_spans, word_spans
from rationalize.types import Example, Explanation, Span
from tally import Tally

ATOMS = (
    *(
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "</style>",
        "</mark>",
        "<!--",
        "-->",
        "]]>",
    ),
    *(
        "&lt;",
        "&#x3c;script&#x3e;",
        "javascript:alert(1)",
        "\"'`",
        "' onmouseover='x",
        "{{ 7*7 }}",
        "{% raw %}",
    ),
    *(
        "\x1b[31m",
        "\x1b]0;owned\x07",
        "\x1b[2J",
        "\x9b31m",
        "\x00",
        "\x08",
        "\r",
        "\n",
        "\u2028",
        "\x7f",
        "\x85",
    ),
    *("\u202e", "\u202d", "\u2066", "\u2069", "\u200b", "\ud800", "\udfff", "\ufeff", "\U000e0041"),
    *(
        "[/x]",
        "[bold",
        "[link=http://x]y[/link]",
        ":smile:",
        "\\[",
        "%s",
        "%(x)s",
        "\\input{x}",
        "$\\write18{x}$",
    ),
    *(
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "a,b",
        '"',
        "| a |",
        "**",
        "word",
        "é",
        "مرحبا",
        "日本",
    ),
)
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
TAGS = {"div", "style", "p", "bdi", "mark", "u", "span", "b", "i"}


class Reader(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def draw(rng, most=8):
    return "".join(
        rng.choice(ATOMS) if rng.random() < 0.8 else chr(rng.randrange(0x110000))
        for _ in range(rng.randrange(1, most))
    )


def make(rng):
    text, label = draw(rng, 12), draw(rng, 3)
    words = word_spans(text)
    mask = [rng.random() < 0.4 for _ in words]
    chances = {label: 0.9, f"{draw(rng, 3)}2": 0.1}
    return Explanation(
        text, label, chances, tuple(mask_spans(words, mask)), tuple(words), tuple(map(float, mask)), tuple(mask),
        True, "un_rat", query=draw(rng, 3), id=draw(rng, 3), cut_off=Span(len(text) // 2, len(text)),
    )  # fmt: skip


def join_halves(text):
    """The text with halves of surrogate pairs that stand side by side joined, as JSON reads them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def is_formula(cell):
    """Whether a spreadsheet would run a cell; a signed number is a number."""
    return cell[:1] in tuple("=+-@\t\r") and not re.fullmatch(r"[+-]\d+(\.\d+)?", cell)


def find_escapes(made):
    """Yield the sinks that a text got out of."""
    page = Reader(explanation_html(made, gold=made.spans[:1], shortcuts=made.spans[-1:]))
    if not page.tags <= TAGS or not page.attributes <= {"class", "dir"}:
        yield f"html {page.tags - TAGS} {page.attributes}"
    if OBEYED.search(str(made)) or "\n" in str(made):
        yield "str"
    console = guard_console(
        Console(file=io.StringIO(), width=100, color_system=None, markup=False, emoji=False)
    )
    console.print(explanation_text(made))
    console.print(f"{made.label}: {made.text}")
    if OBEYED.search(console.file.getvalue()):
        yield "terminal"
    printed = make_json_printable(json.dumps(made.to_dict(), ensure_ascii=False))
    if OBEYED.search(printed) or json.loads(printed)["text"] != join_halves(made.text):
        yield "json"
    rows = list(csv.reader(io.StringIO("".join(to_csv(iter([made]), guard_formula)), newline="")))
    if len(rows) != 2 or any(is_formula(cell) for cell in rows[1]):
        yield f"csv {rows[1:]}"
    table = Table(made.label, (Column("name", "text"),), (TableRow((made.text,)),), (made.query,))
    lines = table.to_latex().splitlines()
    if len(lines) != 9 or any(re.search(r"(?<!\\)\\(input|write)", line) for line in lines):
        yield f"latex {lines}"
    if len(re.findall(r"(?<!\\)\|", table.to_markdown().split("\n\n", 1)[-1])) % 2:
        yield "markdown"


def attack(times, seconds, seed, per_page):
    tally, rng, shown = Tally("hostile texts", seconds), random.Random(seed), []
    for _ in tally.bound(range(times)):
        made = make(rng)
        escapes = list(find_escapes(made))
        tally.fail(f"{escapes}: {made!r}"[:600]) if escapes else tally.count("stayed text")
        shown.append(ExampleView(Example(made.id, made.text, made.label, made.query), {made.label: made}))
        if len(shown) == per_page:
            check_page(shown, tally)
            shown = []
    return tally


def check_page(views, tally):
    """A whole report has the elements of one with a harmless text, and no others."""
    plain = Explanation(
        "a b", "x", {"x": 1.0}, (Span(0, 1),), (), (), (), True, "un_rat", query="q", cut_off=Span(1, 2)
    )
    known = Reader(
        render_report(Report("t", examples=[ExampleView(Example("i", "a b", "x", "q"), {"m": plain})] * 2))
    )
    page = Reader(render_report(Report(views[0].example.text, summary=views[0].example.text, examples=views)))
    if not page.tags <= known.tags | TAGS or not page.attributes <= known.attributes | {"class", "dir"}:
        tally.fail(f"report: {page.tags - known.tags} {page.attributes - known.attributes}")


def test_some_hostile_texts():
    attack(100, 300, seed=1, per_page=50).close(100)


@pytest.mark.slow
def test_a_hundred_thousand_hostile_texts():
    attack(100_000, 3600, seed=2, per_page=2000).close(100_000)
