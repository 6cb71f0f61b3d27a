from __future__ import annotations

import json
import threading
from dataclasses import replace
from http.client import HTTPConnection

import pytest

from rating_studies import plan, write_predictions
from rationalize.errors import ConfigError
from rationalize.ratings._rating_page import render_rating_page
from rationalize.ratings._rating_store import Rating, RatingStore
from rationalize.ratings._server import RatingServer
from rationalize.ratings._session import Session
from rationalize.ratings.prepare_study import prepare_study
from rationalize.ratings.study import open_study

NASTY = "<script>alert(1)</script> & more"


class Browser:
    """Asks as a browser on a page of the server would, unless told otherwise."""

    def __init__(self, server):
        self.server = server
        self.host = f"127.0.0.1:{server.port}"
        self.cookie = f"rating-{server.port}={server.token}"

    def ask(self, method, path, body=None, **headers):
        given = {"Host": self.host, "Cookie": self.cookie}
        if method == "POST":
            given |= {"Origin": f"http://{self.host}", "X-Rating-Token": self.server.token}
        given = {name: value for name, value in {**given, **headers}.items() if value is not None}
        connection = HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), given)
            reply = connection.getresponse()
            return reply.status, reply.read().decode(), reply.headers
        finally:
            connection.close()

    def grade(self, **headers):
        body = {"item": "item-1", "question": "fluency", "grade": 4}
        return self.ask("POST", "/grade", body, **headers)[0]


@pytest.fixture
def store(tmp_path):
    given = plan(tmp_path, 2)
    write_predictions(given.predictions["ours"], 2, text=NASTY, spans=[[0, 8]], query="<b>q")
    prepare_study(replace(given, predictions={"ours": given.predictions["ours"]}))
    return RatingStore(open_study(given.out))


@pytest.fixture
def browser(store):
    study = open_study(store.path.parent)
    with RatingServer(Session(study, store, "anna"), render_rating_page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield Browser(server)
        server.shutdown()
        thread.join()


def test_the_printed_address_lets_the_browser_in(browser):
    path = browser.server.url.removeprefix(f"http://{browser.host}")
    status, _, headers = browser.ask("GET", path, Cookie=None)
    assert (status, headers["Location"]) == (303, "/")
    assert headers["Set-Cookie"].startswith(browser.cookie)
    assert "HttpOnly" in headers["Set-Cookie"]
    assert browser.ask("GET", "/")[2]["Location"] == "/item/1"
    assert browser.ask("GET", "/item/1", Cookie=None)[0] == 403
    assert browser.ask("GET", "/?token=wrong", Cookie=None)[0] == 403


def test_a_page_shows_the_item_and_nothing_of_it_is_obeyed(browser):
    status, page, headers = browser.ask("GET", "/item/1")
    assert status == 200
    assert "<mark>&lt;script&gt;</mark>alert(1)&lt;/script&gt; &amp; more" in page
    assert "&lt;b&gt;q" in page
    assert "<script>alert" not in page
    assert page.count('type="radio"') == 15
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "http" not in page.split("<script")[0].replace("http-equiv", "")
    for path in ("/item/0", "/item/3", "/item/x", "/item/" + "9" * 5000, "/ratings.sqlite", "/../key.json"):
        assert browser.ask("GET", path)[0] == 404


def test_a_grade_is_on_disk_when_it_is_answered(browser, store):
    assert browser.grade() == 200
    assert store.read_ratings() == [Rating("item-1", "anna", "fluency", 4)]
    body = {"item": "item-1", "question": "fluency", "grade": 2, "rater": "bert"}
    assert browser.ask("POST", "/grade", body)[1] == '{\n  "done": 0\n}'
    assert store.read_ratings() == [Rating("item-1", "anna", "fluency", 2)]


def test_posts_from_elsewhere_are_refused(browser, store):
    refused = [
        {"Origin": "http://evil.example"},
        {"Origin": None},
        {"Origin": "null"},
        {
            "Host": f"evil.example:{browser.server.port}",
            "Origin": f"http://evil.example:{browser.server.port}",
        },
        {"X-Rating-Token": None},
        {"X-Rating-Token": "wrong"},
        {"Cookie": None},
        {"Cookie": f"rating-1={browser.server.token}"},
    ]
    assert [browser.grade(**headers) for headers in refused] == [403] * len(refused)
    assert browser.ask("GET", "/item/1", Host="evil.example")[0] == 403
    assert store.read_ratings() == []


def test_nonsense_is_reported(browser, store):
    for body in ([], {"item": "item-1"}, {"item": "item-1", "question": "fluency", "grade": 9}):
        assert browser.ask("POST", "/grade", body)[0] == 400
    assert browser.ask("POST", "/grade", {"x": "y" * 5000})[0] == 413
    assert browser.ask("POST", "/elsewhere", {})[0] == 404
    assert store.read_ratings() == []


def test_the_end_says_what_is_left(browser, store):
    assert "2 items are left" in browser.ask("GET", "/end")[1]
    for item in ("item-1", "item-2"):
        store.save(item, "anna", {"usefulness": 1, "completeness": 1, "fluency": 1})
    assert "Everything is rated" in browser.ask("GET", "/end")[1]
    assert browser.ask("GET", "/")[2]["Location"] == "/end"


def test_a_port_in_use_is_reported(browser, store):
    with pytest.raises(ConfigError, match="port"):
        RatingServer(browser.server.session, render_rating_page, browser.server.port)
