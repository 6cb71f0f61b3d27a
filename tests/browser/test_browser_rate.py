"""Grading rationales in a browser: `rate human` alone, and in a studio."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import ENVIRONMENT, PATIENCE_MS, is_error
from helpers import tiny_corpus
from rating_studies import small_study
from rationalize.ratings.rating_store import RatingStore

pytestmark = pytest.mark.browser

QUESTIONS = 3
ITEMS = 4


@pytest.fixture
def study(tmp_path):
    return small_study(tmp_path, ITEMS // 2)


@pytest.fixture
def rated(study):
    """`rate human` in a process of its own; yields the address."""
    command = [
        sys.executable, "-c", "from rationalize.cli.main import main; main()", "rate", "human",
        str(study.folder), "--rater", "anna", "--no-browser",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    line = process.stdout.readline()
    assert line.startswith("Rate here: http"), line
    yield line.split()[2]
    process.terminate()
    process.wait(60)
    process.stdout.close()


def open_page(chromium, url, **options):
    page = chromium.new_context(viewport={"width": 1280, "height": 800}, **options).new_page()
    page.set_default_timeout(PATIENCE_MS)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if is_error(message) else None)
    page.goto(url)
    return page, errors


def grade_item(page, grade):
    before = page.url
    for _ in range(QUESTIONS):
        page.keyboard.press(str(grade))
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != before)


def test_a_study_by_keyboard_alone_with_a_reload_in_between(chromium, study, rated):
    page, errors = open_page(chromium, rated)
    page.wait_for_url("**/rate/1")
    grade_item(page, 4)
    page.reload()
    assert page.inner_text("#done") == "1"
    for grade in (2, 5, 3):
        grade_item(page, grade)
    page.wait_for_selector("text=Everything is rated")
    found = RatingStore(study).read_ratings()
    assert len(found) == ITEMS * QUESTIONS
    assert sorted({(each.rater, each.grade) for each in found}) == [("anna", grade) for grade in (2, 3, 4, 5)]
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"**/rate/{ITEMS}")
    assert page.locator("input:checked").count() == QUESTIONS
    assert errors == []
    page.context.close()


def test_half_graded_is_not_left_by_enter_and_the_page_fits_a_phone_in_both_themes(chromium, rated):
    page, errors = open_page(chromium, rated)
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Not all is graded")
    assert page.url.endswith("/rate/1")
    page.locator("fieldset").nth(2).get_by_text("5", exact=True).click()
    page.locator("fieldset").nth(1).get_by_text("1", exact=True).click()
    page.click("#next")
    page.wait_for_url("**/rate/2")
    page.set_viewport_size({"width": 360, "height": 740})
    grounds = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        for place in ("1", "end"):
            page.goto(f"{page.url.rpartition('/')[0]}/{place}")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (scheme, place)
            assert page.evaluate("scrollY") == 0  # an item begins with its text
    assert len(grounds) == 2
    assert errors == []
    page.context.close()


def test_in_a_studio_people_rate_under_their_own_names(serve, visit, study):
    studio = serve(tiny_corpus(10), "--study", str(study.folder))
    page = visit(studio, "bert")
    page.click("nav >> text=Rate")
    page.wait_for_url("**/rate/1")
    grade_item(page, 3)
    assert {each.rater for each in RatingStore(study).read_ratings()} == {"bert"}
