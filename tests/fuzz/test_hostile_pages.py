"""Hostile texts, labels, ids and queries on the pages of the studio: the elements of a harmless text, and no others."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest
from test_hostile_texts import Reader, draw

from rationalize.types import Example, Span
from tally import Tally

sys.path.append(str(Path(__file__).parents[1] / "studio"))
from studio_helpers import KEY, Browser, create_studio, make_studio

PER_STUDIO = 50
# An element ends what an embedding or an isolate of a text began, so those may stay.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff]")


def draw_text(rng, most):
    """What can be in a file: no lone surrogates, and at least one word."""
    return draw(rng, most).encode("utf-8", "replace").decode() + " x"


def draw_example(number, rng, labels):
    text = draw_text(rng, 12)
    gold = (Span(0, max(1, len(text) // 2)),) if rng.random() < 0.5 else ()
    return Example(
        f"{number} {draw_text(rng, 3)}", text, rng.choice(labels), draw_text(rng, 3), rationale=gold
    )


def read_pages(folder, examples):
    """Each page, with what it is about."""
    studio = make_studio(folder, examples, models=())
    browser = Browser(create_studio(studio, KEY))
    try:
        for number, example in enumerate(examples, start=1):
            answer = browser.get(f"/annotate/{number}")
            assert answer.status_code == 200, answer.text
            yield example, answer.text
        for room in ("/try", "/people", "/annotate/end"):
            yield room, browser.get(room).text
    finally:
        studio.close()


def collect_known(folder):
    """The elements and attributes of pages about a harmless text."""
    plain = [
        Example(str(number), "a b c", label, "q", rationale=gold)
        for number, (label, gold) in enumerate([("x", (Span(0, 1),)), ("y", ())])
    ]
    pages = [Reader(page) for _, page in read_pages(folder, plain)]
    return set().union(*(page.tags for page in pages)), set().union(*(page.attributes for page in pages))


def attack(tmp_path, times, seconds, seed):
    tally, rng = Tally("hostile texts in the studio", seconds), random.Random(seed)
    tags, attributes = collect_known(tmp_path / "plain")
    for start in tally.bound(range(0, times, PER_STUDIO)):
        labels = [draw_text(rng, 3) for _ in range(2)]
        examples = [draw_example(start + each, rng, labels) for each in range(min(PER_STUDIO, times))]
        for about, text in read_pages(tmp_path / str(start), examples):
            page = Reader(text)
            new = sorted((page.tags - tags) | (page.attributes - attributes))
            if new or OBEYED.search(text):
                tally.fail(f"{about!r:.300}: {new or 'a control code'}")
            else:
                tally.count("stayed text")
    return tally


def test_some_hostile_texts_in_the_studio(tmp_path):
    attack(tmp_path, 10, 120, seed=1).close(10)


@pytest.mark.slow
def test_five_thousand_hostile_texts_in_the_studio(tmp_path):
    attack(tmp_path, 5000, 3600, seed=2).close(5000)
