"""What people do in the studio, done in a browser."""

from __future__ import annotations

import json
import re

import pytest

from helpers import tiny_corpus, tiny_model
from rationalize.types import Example

pytestmark = pytest.mark.browser

EMOJI = ("🎬", "👩‍👩‍👧", "🏳️‍🌈", "𝒇𝒊𝒏𝒆", "cafe\u0301")
MARKUP = '<img src=x onerror="document.title=1"> & <b>bold</b> 🎬 joy'


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """An untrained model."""
    from rationalize.runs.model_folder import save_model

    folder = tmp_path_factory.mktemp("models") / "first"
    save_model(folder, tiny_model("un_rat"), "# card\n")
    return folder


def ten_texts():
    return [
        Example(f"t{index}", f"{EMOJI[index % 5]} word{index} tail .", "POS" if index % 2 else "NEG")
        for index in range(10)
    ]


def export_of(page, studio):
    answer = page.context.request.get(f"{studio.base}/export.jsonl")
    return [json.loads(line) for line in answer.text().splitlines()]


def expect(locator):
    """Waits, as the page allows no other site's script, by asking from outside."""
    from playwright.sync_api import expect

    expect.set_options(timeout=60_000)
    return expect(locator)


def marked(page):
    return page.locator("#words [aria-selected=true]")


def wait_saved(page):
    expect(page.locator("#saved")).to_have_text("Saved")


def number_of(page):
    return int(page.url.rpartition("/")[2])


def test_ten_texts_by_keyboard_alone(serve, visit):
    studio = serve(ten_texts())
    page = visit(studio, "anna")
    for _ in range(10):
        number = number_of(page)
        page.keyboard.press("Space")  # the first word: an emoji, or letters that UTF-16 writes in two units
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("2")
        wait_saved(page)
        if number == 4:
            page.reload()  # nothing is lost
            assert marked(page).count() == 2
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, before=number: not url.endswith(f"/{before}"))
    assert page.url.endswith("/annotate/end")
    rows = export_of(page, studio)
    assert [row["id"] for row in rows] == [f"t{index}" for index in range(10)]
    for row in rows:
        words = row["text"].split()
        quoted = [row["text"][start:end] for start, end in row["rationale"]]
        assert quoted == [words[0], words[2]], row
        assert row["label"] == "POS"


def test_mouse_undo_skip_note_and_clear(serve, visit):
    studio = serve(ten_texts())
    page = visit(studio, "anna")
    number = number_of(page)
    first, last = page.locator("#words .w").nth(1), page.locator("#words .w").nth(2)
    first.hover()
    page.mouse.down()
    last.hover()
    page.mouse.up()
    wait_saved(page)
    assert marked(page).count() == 2
    page.keyboard.press("x")
    expect(marked(page)).to_have_count(0)
    wait_saved(page)
    page.keyboard.press("n")
    page.keyboard.insert_text("hard to say")
    page.keyboard.press("Escape")
    wait_saved(page)
    page.keyboard.press("s")
    page.wait_for_url(lambda url: number_of(page) != number)
    for note, words in (("hard to say", 0), ("", 0), ("", 2)):  # without the skip, the note, the clearing
        with page.expect_navigation():
            page.keyboard.press("u")
        assert number_of(page) == number
        assert page.input_value("#note") == note
        assert marked(page).count() == words


def test_two_people_at_once_agree_as_far_as_they_do(serve, visit):
    studio = serve(ten_texts())
    anna, bert = visit(studio, "anna"), visit(studio, "bert")
    for page in (anna, bert):
        page.goto(f"{studio.base}/annotate/1")
    for page, presses in ((anna, 1), (bert, 2)):
        page.keyboard.press("Space")
        for _ in range(presses - 1):
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Space")
        wait_saved(page)
    for page in (anna, bert):
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: not url.endswith("/1"))
    anna.goto(f"{studio.base}/people")
    assert "anna" in anna.inner_text("table >> nth=1")
    assert re.search(r"\b0\.67\b", anna.inner_text("table >> nth=1"))  # one of one and two words
    (row,) = export_of(anna, studio)
    assert row["annotators"] == ["anna", "bert"]


def test_markup_is_shown_and_not_obeyed(serve, visit, model):
    two = ("--model", f"first={model}", "--model", f"second={model}")
    studio = serve([Example("m", MARKUP, "NEG"), *ten_texts()], *two)
    page = visit(studio, "anna")
    page.goto(f"{studio.base}/annotate/1")
    assert "<b>bold</b>" in page.inner_text("#words")
    page.goto(f"{studio.base}/try")
    page.fill("#text", MARKUP)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".answer")
    assert page.inner_text(".answer") == MARKUP
    assert page.locator(".answer img, .answer b").count() == 0
    assert page.title().startswith("Try")
    # Another word in place of the last one, which stands behind an emoji.
    page.locator(".answer .w").last.press("Enter")
    page.keyboard.type("sorrow")
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_have_text(MARKUP.replace("joy", "sorrow"))
    assert page.input_value("#text") == MARKUP.replace("joy", "sorrow")
    page.select_option("#model", "first")
    page.select_option("#other", "second")
    page.click("#ask")
    expect(page.locator(".card")).to_have_count(2)
    assert page.locator(".card h2 .label").all_inner_texts()[0] in ("NEG", "POS")


def test_the_page_fits_a_phone_and_both_themes(serve, visit):
    studio = serve(ten_texts())
    page = visit(studio, "anna", color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 740})
    for room in ("annotate", "try", "audit", "train", "results", "people"):
        page.goto(f"{studio.base}/{room}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), room
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "light"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    page.reload()
    assert page.get_attribute("html", "data-theme") == "light"


def test_a_confirmed_phrase_and_a_trained_model(serve, visit):
    """The whole way: audit, confirm, annotate, train, restart in between, see the new model's suggestion."""
    studio = serve(tiny_corpus(60))
    page = visit(studio, "anna")
    assert "No model yet" in page.inner_text("#suggested")
    for _ in range(8):
        number = number_of(page)
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, before=number: not url.endswith(f"/{before}"))
    page.click("nav >> text=Audit")
    page.click("#start")
    page.wait_for_selector(".suspect")
    suspect = page.locator(".suspect", has_text="released in winter").first
    suspect.get_by_label("Shortcut").check()
    page.wait_for_selector(".suspect.shortcut")
    page.click("nav >> text=Train")
    assert "8 of 60 texts are annotated here" in page.inner_text(".lead")
    assert "1 phrase is a confirmed shortcut" in page.inner_text(".lead")
    page.select_option("#method", "ssr_unif")
    page.select_option("#preset", "planted")
    page.fill("#epochs", "1")
    page.click("#start")
    page.wait_for_selector(".run .state.running")
    studio.stop()
    studio.start(studio.base.rpartition(":")[2])  # the same address: the open page goes on
    page.goto(f"{studio.base}/train")
    page.click(".run .resume")
    page.wait_for_selector(".run .state.finished", timeout=3 * 60_000)
    assert page.is_visible("text=gives the suggestions")
    page.click("nav >> text=Results")
    assert "run-1: ssr_unif" in page.inner_text("table")
    page.click("nav >> text=Annotate")
    expect(page.locator("#suggested")).to_contain_text("%")
    page.keyboard.press("a")
    wait_saved(page)
    assert marked(page).count() == page.locator("#words .w.s").count() > 0
    assert len(export_of(page, studio)) == 8
