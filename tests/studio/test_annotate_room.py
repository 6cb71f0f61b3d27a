"""Annotating: every change is kept, nothing of a text is obeyed, offsets are right."""

from __future__ import annotations

import html
import json
import re

import pytest
from studio_helpers import EMOJI, KEY, TEXTS, Browser, make_studio, running

from rationalize.data.annotation import FORMATS
from rationalize.data.jsonl import read_jsonl
from rationalize.studio.studio_app import create_studio
from rationalize.types import Example, Span


@pytest.fixture
def studio(tmp_path):
    studio = make_studio(tmp_path / "studio", models=())
    yield studio
    studio.close()


@pytest.fixture
def app(studio):
    return create_studio(studio, KEY)


@pytest.fixture
def browser(app):
    return Browser(app)


def exported(browser, tmp_path, query=""):
    answer = browser.get(f"/export.jsonl{query}")
    assert answer.status_code == 200, answer.text
    path = tmp_path / "out.jsonl"
    path.write_bytes(answer.content)
    return list(read_jsonl(path))


def test_nobody_annotates_without_a_name(app):
    stranger = Browser(app, person=None)
    assert stranger.get("/annotate").headers["Location"] == "/hello?then=/annotate"
    assert stranger.save(1).status_code == 403
    assert stranger.post("/hello", {"name": "<b>"}).status_code == 422
    assert stranger.post("/hello", {"name": "Zoë"}).status_code == 200
    assert stranger.get("/annotate").headers["Location"].startswith("/annotate/")


@pytest.mark.parametrize("then", ["//evil.example", "http://evil.example", "/\\evil.example"])
def test_a_name_leads_to_our_own_pages_only(browser, then):
    assert 'data-then="/"' in browser.client.get("/hello", params={"then": then}).text


def test_a_label_that_a_browser_would_change_can_be_chosen(tmp_path):
    """Browsers read NUL and line ends in an attribute as something else."""
    labels = ["a\0b\r\nc", "\x7f\u202e"]
    studio = make_studio(tmp_path, [Example(each, "some words", each) for each in labels], models=())
    browser = Browser(create_studio(studio, KEY))
    values = re.findall(r'name="label" value="([^"]*)"', browser.get("/annotate/1").text)
    assert all(value.isprintable() for value in values)
    found = [json.loads(html.unescape(value)) for value in values]
    assert sorted(found) == sorted(labels)
    assert browser.save(1, label=found[0]).status_code == 200
    studio.close()


def test_nothing_of_a_text_is_obeyed(browser):
    page = browser.get("/annotate/4").text
    assert "<script>alert" not in page
    assert "<b>bold" not in page
    words = re.findall(r'<span role="option"[^>]*>([^<]*)</span>', page)
    assert "script" in words


def test_words_come_back_with_offsets_in_code_points(browser, tmp_path):
    words = re.findall(r'<span role="option"[^>]*>([^<]*)</span>', browser.get("/annotate/3").text)
    marked = [index for index, word in enumerate(words) if word in ("👩‍👩‍👧", "joy", "🎉", "cafe\u0301")]
    assert len(marked) == 4
    assert browser.save(3, marked).json()["done"] == 1
    (example,) = exported(browser, tmp_path)
    assert [EMOJI[span.start : span.end] for span in example.rationale] == ["👩‍👩‍👧 joy 🎉", "cafe\u0301"]
    assert example.rationale[0] == Span(9, 20)


def test_a_change_is_on_disk_when_it_is_answered(browser, studio):
    first = browser.save(1, [1], state="open", note="hm").json()
    assert first == {"change": 1, "next": 1, "done": 0}
    (kept,) = studio.store.read_all()
    assert (kept.spans, kept.state, kept.note) == ((Span(2, 7),), "open", "hm")
    assert browser.save(1, [1, 2], change=1).json()["done"] == 1
    page = browser.get("/annotate/1").text
    assert page.count('aria-selected="true"') == 3  # two words, and the sample in the legend
    assert 'data-change="2"' in page


def test_a_change_in_another_window_is_not_overwritten(browser, studio):
    assert browser.save(1, [0]).status_code == 200
    answer = browser.save(1, [1])
    assert answer.status_code == 409
    assert "another window" in answer.json()["error"]["what"]
    assert studio.store.read_one("anna", 1).spans == (Span(0, 1),)


def test_undo_goes_back_change_by_change(browser, studio):
    browser.save(1, [0], state="open")
    browser.save(1, [0, 1], change=1)
    browser.save(2, [0], label="NEG")
    assert [browser.post("/annotate/undo").json()["number"] for _ in range(4)] == [2, 1, 1, None]
    assert studio.store.read_all() == []


def test_undo_takes_back_ones_own_only(app, studio):
    Browser(app, "anna").save(1, [0])
    assert Browser(app, "bert").post("/annotate/undo").json() == {"number": None}
    assert len(studio.store.read_all()) == 1


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"words": [99]}, 422),
        ({"words": [-1]}, 422),
        ({"words": ["0"]}, 422),
        ({"label": "MAYBE"}, 422),
        ({"state": "perhaps"}, 422),
        ({"note": "x" * 5001}, 422),
        ({"extra": 1}, 422),
    ],
)
def test_nonsense_is_refused(browser, studio, change, status):
    body = {"words": [0], "label": None, "note": "", "state": "done", "change": 0} | change
    answer = browser.post("/annotate/1", body)
    assert answer.status_code == status
    assert answer.json()["error"]["expected"]
    assert studio.store.read_all() == []


def test_what_is_skipped_or_open_is_not_exported(browser, tmp_path):
    browser.save(1, [0], state="skipped")
    browser.save(2, [0], state="open", label="NEG")
    browser.save(6, [], label="POS", note="why not")
    (example,) = exported(browser, tmp_path)
    assert (example.id, example.label, example.rationale) == ("f", "POS", ())
    row = json.loads(browser.get("/export.jsonl").text)
    assert (row["annotators"], row["notes"]) == (["anna"], {"anna": "why not"})


@pytest.mark.parametrize("tool", ["label_studio", "argilla", "prodigy", "hatexplain", "doccano"])
def test_every_tool_gets_the_same_words(browser, tmp_path, tool):
    browser.save(3, [1, 2, 4])
    (plain,) = exported(browser, tmp_path)
    answer = browser.get(f"/export/{tool}")
    path = tmp_path / answer.headers["Content-Disposition"].partition("filename=")[2]
    path.write_bytes(answer.content)
    (found,) = FORMATS[tool].read(path).examples
    words = {found.text[span.start : span.end] for span in found.rationale}
    assert words == {plain.text[span.start : span.end] for span in plain.rationale}
    assert f'href="/export/{tool}"' in browser.get("/people").text


def test_several_people_are_merged_as_asked(app, tmp_path):
    anna, bert = Browser(app, "anna"), Browser(app, "bert")
    for browser in (anna, bert):
        browser.post("/hello", {"name": "anna" if browser is anna else "bert"})
    anna.save(1, [0, 1], label="POS")
    bert.save(1, [1, 2], label="POS")
    spans = {
        how: exported(anna, tmp_path, f"?annotators={how}")[0].rationale
        for how in ("union", "intersection", "bert")
    }
    assert spans == {"union": (Span(0, 16),), "intersection": (Span(2, 7),), "bert": (Span(2, 16),)}
    assert anna.get("/export.jsonl?annotators=carl").status_code == 422
    assert anna.get("/export/excel").status_code == 404
    assert anna.get("/export/brat").status_code == 404
    page = anna.get("/people").text
    assert '<td class="number">0.50</td>' in page  # word F1: one of two words each


def test_the_queue_leaves_out_what_is_settled(browser, studio):
    seen = set()
    for _ in TEXTS:
        number = int(browser.get("/annotate").headers["Location"].rpartition("/")[2])
        assert number not in seen
        seen.add(number)
        browser.save(number, state="skipped" if number % 2 else "done")
    assert browser.get("/annotate").headers["Location"] == "/annotate/end"
    assert "all 6 texts" in browser.get("/annotate/end").text


def test_the_data_must_be_the_same(studio, tmp_path):
    studio.store.close()
    with pytest.raises(Exception, match="belongs to other texts"):
        make_studio(tmp_path / "studio", TEXTS[:3])


def test_all_is_there_after_a_restart(tmp_path):
    first = make_studio(tmp_path, models=())
    Browser(create_studio(first, KEY)).save(3, [0])
    again = make_studio(tmp_path, models=())  # the first was killed: it never closed
    assert [each.number for each in again.store.read_all("anna")] == [3]
    first.close()
    again.close()


def test_the_model_suggests(tmp_path):
    studio = make_studio(tmp_path)
    with running(studio) as app:
        browser = Browser(app)
        answer = browser.get("/annotate/3/suggestion").json()
        assert answer == {
            "state": "ready",
            "label": "POS",
            "probability": 0.9,
            "review": False,
            "words": [0],
        }
        assert 'data-words="0"' in browser.get("/annotate/3").text
        answer = browser.post("/v1/explain", {"text": EMOJI}).json()
        assert answer["explanations"][0]["rationale"] == ["🎬"]


def test_without_a_model_nothing_is_suggested(browser):
    assert browser.get("/annotate/3/suggestion").json() == {"state": "none"}
    assert browser.post("/v1/explain", {"text": "x"}).status_code == 404
    assert "no model yet" in browser.get("/try").text
