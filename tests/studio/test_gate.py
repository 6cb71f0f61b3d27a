"""Who is let in: the key, the cookie, the Host, the Origin, the token."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from studio_helpers import BASE, KEY, Browser, make_studio

from rationalize.errors import ConfigError
from rationalize.serving.serve_settings import ServeSettings
from rationalize.studio.studio_app import create_studio
from rationalize.studio.workshop import get_access_key


@pytest.fixture
def studio(tmp_path):
    studio = make_studio(tmp_path, models=())
    yield studio
    studio.close()


@pytest.fixture
def app(studio):
    return create_studio(studio, KEY)


def test_the_address_with_the_key_lets_a_browser_in(app):
    client = TestClient(app, BASE, follow_redirects=False)
    answer = client.get(f"/people?key={KEY}&x=1")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/people?x=1")
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert client.get("/people").status_code == 200
    assert TestClient(app, BASE).get("/people?key=wrong").status_code == 401


def test_a_browser_without_the_key_is_asked_for_it(app):
    client = TestClient(app, BASE, follow_redirects=False)
    page = client.get("/people", headers={"Accept": "text/html"})
    assert page.status_code == 401
    assert 'type="password"' in page.text
    assert app.state.shell.keys.token not in page.text
    assert client.post("/enter", json={"key": "no"}, headers={"Origin": BASE}).status_code == 401
    assert client.post("/enter", json={"key": KEY}, headers={"Origin": BASE}).status_code == 200
    assert client.get("/people").status_code == 200
    assert client.get("/healthz").status_code == 200


def test_a_script_may_send_the_key_in_a_header(app):
    client = TestClient(app, BASE)
    assert client.get("/v1/models").status_code == 401
    assert client.get("/v1/models", headers={"Authorization": f"Bearer {KEY}"}).status_code == 200


def test_posts_from_elsewhere_are_refused(app, studio):
    browser = Browser(app)
    elsewhere = [
        {"Origin": "http://evil.example"},
        {"Origin": None},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"X-Studio-Token": None},
        {"X-Studio-Token": "wrong"},
        {"Content-Type": "text/plain"},
    ]
    body = {"words": [0], "label": None, "note": "", "state": "done", "change": 0}
    statuses = [browser.post("/annotate/1", body, **headers).status_code for headers in elsewhere]
    assert statuses == [403] * 6 + [415]
    browser.client.cookies.delete(browser.keys.cookie)
    assert browser.post("/annotate/1", body).status_code == 401
    assert studio.store.read_all() == []


def test_other_names_of_this_machine_are_refused(app):
    browser = Browser(app)
    assert browser.get("/people", Host="evil.example:8010").status_code == 421
    assert browser.get("/people", Host="localhost:8010").status_code == 200


def test_pages_allow_nothing_but_their_own_files(app):
    browser = Browser(app)
    for path in ("/people", "/try", "/train", "/audit", "/results", "/hello", "/annotate/1"):
        answer = browser.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert answer.status_code == 200, path
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "unsafe" not in policy
        for inline in ("style=", "<style", "onclick", "<script>"):
            assert inline not in answer.text.replace("&lt;", ""), path


def test_a_missing_page_is_a_page_for_people_and_json_for_scripts(app):
    browser = Browser(app)
    assert "<h1>nothing at this address</h1>" in browser.get("/nowhere").text
    assert browser.get("/nowhere", Accept="application/json").json()["error"]["what"]
    assert browser.get("/annotate/99").status_code == 404
    assert browser.get("/annotate/x").status_code == 422


def test_the_folder_keeps_its_key_to_itself(tmp_path):
    key = get_access_key(tmp_path)
    assert get_access_key(tmp_path) == key
    assert (tmp_path / "access-key").stat().st_mode & 0o077 == 0


def test_an_address_that_others_reach_needs_a_key():
    with pytest.raises(ConfigError, match="api_key is not set"):
        ServeSettings(host="0.0.0.0")
