"""Rating: the same gate and the same looks, in a studio or alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from studio_helpers import KEY, Browser, make_studio

from rating_studies import plan, write_predictions
from rationalize.ratings.prepare_study import prepare_study
from rationalize.ratings.rating_store import Rating, RatingStore
from rationalize.ratings.study import open_study
from rationalize.serving.serve_settings import ServeSettings
from rationalize.studio.studio_app import create_rating_app, create_studio

NASTY = "<script>alert(1)</script> & more"


@pytest.fixture
def store(tmp_path):
    given = plan(tmp_path, 2)
    write_predictions(given.predictions["ours"], 2, text=NASTY, spans=[[0, 8]], query="<b>q")
    prepare_study(replace(given, predictions={"ours": given.predictions["ours"]}))
    return RatingStore(open_study(given.out))


@pytest.fixture
def browser(store):
    study = open_study(store.path.parent)
    return Browser(create_rating_app(study, "anna", KEY, ServeSettings()), person=None)


def grade(browser, **headers):
    return browser.post("/rate", {"item": "item-1", "question": "fluency", "grade": 4}, **headers).status_code


def test_a_page_shows_the_item_and_nothing_of_it_is_obeyed(browser):
    assert browser.get("/").headers["Location"] == "/rate"
    assert browser.get("/rate").headers["Location"] == "/rate/1"
    answer = browser.get("/rate/1")
    assert "<mark>&lt;script&gt;</mark>alert(1)&lt;/script&gt; &amp; more" in answer.text
    assert "&lt;b&gt;q" in answer.text
    assert "<script>alert" not in answer.text
    assert answer.text.count('type="radio"') == 15
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    statuses = [browser.get(f"/rate/{place}").status_code for place in ("0", "3", "x", "9" * 5000)]
    assert statuses == [404, 404, 422, 422]


def test_a_grade_is_on_disk_when_it_is_answered(browser, store):
    assert grade(browser) == 200
    assert store.read_ratings() == [Rating("item-1", "anna", "fluency", 4)]
    body = {"item": "item-1", "question": "fluency", "grade": 2}
    assert browser.post("/rate", body).json() == {"done": 0}
    assert store.read_ratings() == [Rating("item-1", "anna", "fluency", 2)]


def test_grades_from_elsewhere_are_refused(browser, store):
    refused = [{"Origin": "http://evil.example"}, {"Origin": None}, {"X-Studio-Token": None}]
    assert [grade(browser, **headers) for headers in refused] == [403] * 3
    assert store.read_ratings() == []


def test_nonsense_is_reported(browser, store):
    for body in (
        [],
        {"item": "item-1"},
        {"item": "item-1", "question": "fluency", "grade": 9},
        {"rater": "x"},
    ):
        assert browser.post("/rate", body).status_code == 422
    assert store.read_ratings() == []


def test_the_end_says_what_is_left(browser, store):
    assert "2 items are left" in browser.get("/rate/end").text
    for item in ("item-1", "item-2"):
        store.save(item, "anna", {"usefulness": 1, "completeness": 1, "fluency": 1})
    assert "Everything is rated" in browser.get("/rate/end").text
    assert browser.get("/rate").headers["Location"] == "/rate/end"


def test_in_a_studio_everybody_rates_under_their_own_name(store, tmp_path):
    studio = make_studio(tmp_path / "studio", models=(), study=open_study(store.path.parent))
    app = create_studio(studio, KEY)
    assert [grade(Browser(app, name)) for name in ("anna", "bert")] == [200, 200]
    assert {each.rater for each in store.read_ratings()} == {"anna", "bert"}
    assert 'href="/rate"' in Browser(app).get("/rate/1").text
    studio.close()
