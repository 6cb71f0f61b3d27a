"""Who may ask: the key where there is one, this machine's own names where there is none."""

from __future__ import annotations

import logging

import pytest
from pydantic import SecretStr
from serving_helpers import StubModel, asking, stub_app

from rationalize.config import validate
from rationalize.errors import ConfigError
from rationalize.serving.api_key import is_authorized, read_api_key
from rationalize.serving.serve_settings import ServeSettings, is_loopback

KEY = "0123456789abcdef-secret"
GUARDED = ["/v1/models", "/metrics", "/openapi.json", "/", "/static/service.css", "/nowhere"]


@pytest.fixture(scope="module")
def guarded():
    with asking(stub_app(api_key=SecretStr(KEY))) as client:
        yield client


@pytest.mark.parametrize(
    "header", [None, KEY, f"Basic {KEY}", "Bearer ", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", "Bearer ü"]
)
def test_without_the_key_nothing_is_answered_or_read(guarded, header):
    headers = {"Authorization": header.encode("latin-1")} if header else {}

    def body():
        pytest.fail("the body was read")
        yield b""

    answers = [guarded.get(path, headers=headers) for path in GUARDED]
    answers.append(guarded.post("/v1/explain", content=body(), headers={**headers, "Content-Length": "5"}))
    for answer in answers:
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.json()["error"]["where"] == "header Authorization"
        assert KEY not in answer.text


def test_with_the_key_everything_is_answered_under_any_name(guarded):
    headers = {"Authorization": f"bearer {KEY}", "Host": "rationalize.example"}
    assert guarded.post("/v1/explain", json={"text": "x"}, headers=headers).status_code == 200
    assert [guarded.get(path, headers=headers).status_code for path in GUARDED] == [200] * 5 + [404]


def test_the_interface_says_that_a_key_is_needed(guarded):
    described = guarded.get("/openapi.json", headers={"Authorization": f"Bearer {KEY}"}).json()
    assert described["security"] == [{"key": []}]
    assert described["components"]["securitySchemes"]["key"]["scheme"] == "bearer"


def test_probes_need_no_key_but_learn_no_more_than_they_must(guarded):
    assert guarded.get("/healthz").json() == {"status": "ok"}
    assert guarded.get("/readyz").json() == {"ready": True}
    assert "models" in guarded.get("/readyz", headers={"Authorization": f"Bearer {KEY}"}).json()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:8000", 200), ("ours.example", 200),
        ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("localhost@evil.example", 421), ("", 421),
    ],
)  # fmt: skip
def test_without_a_key_only_own_names_are_answered_to(host, status):
    with asking(stub_app(allowed_hosts=("Ours.example",))) as client:
        assert client.get("/healthz", headers={"Host": host}).status_code == status


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "example.org", ""])
def test_other_addresses_are_refused_without_a_key(host):
    assert not is_loopback(host)
    with pytest.raises(ConfigError, match="api_key is not set"):
        ServeSettings(host=host)
    assert ServeSettings(host=host, api_key=SecretStr(KEY)).host == host


def test_this_machines_own_addresses_need_none():
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))


def test_the_key_is_read_from_a_file_or_else_the_environment(tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    assert read_api_key(file, {"RATIONALIZE_API_KEY": "x" * 20}).get_secret_value() == KEY
    assert read_api_key(None, {"RATIONALIZE_API_KEY": KEY}).get_secret_value() == KEY
    assert read_api_key(None, {}) is None


@pytest.mark.parametrize(
    "key",
    ["", "short-secret", "with a space in it-secret", "two\nlines-of-secret-key", "schlüssel-secret-key"],
)
def test_an_unusable_key_is_refused_without_showing_it(tmp_path, key):
    file = tmp_path / "key"
    file.write_text(key)
    for read in (lambda: read_api_key(file, {}), lambda: read_api_key(None, {"RATIONALIZE_API_KEY": key})):
        with pytest.raises(ConfigError, match="not usable as an API key") as error:
            read()
        assert "secret" not in str(error.value)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_api_key(tmp_path / "absent", {})


def test_a_key_is_compared_whole():
    key = SecretStr(KEY)
    assert is_authorized(key, f"Bearer {KEY}".encode())
    assert not is_authorized(key, None)
    assert not is_authorized(key, b"Bearer")


def test_settings_never_show_the_key():
    settings = ServeSettings(api_key=SecretStr(KEY))
    assert KEY not in f"{settings!r} {settings.model_dump_json()}"
    with pytest.raises(ConfigError) as error:
        validate(ServeSettings, {"api_key": SecretStr(KEY), "prot": 1, "limits": {"call_texts": 0}}, "serve")
    assert KEY not in str(error.value)
    with pytest.raises(ConfigError, match="a full call would never fit"):
        validate(ServeSettings, {"api_key": SecretStr(KEY), "limits": {"queue_texts": 5}}, "serve")


def test_neither_texts_nor_keys_are_logged(caplog):
    caplog.set_level(logging.DEBUG)
    headers = {"Authorization": f"Bearer {KEY}"}
    with asking(stub_app(StubModel(fails="private"), api_key=SecretStr(KEY))) as client:
        assert (
            client.post("/v1/explain?x=private", json={"text": "private words"}, headers=headers).status_code
            == 500
        )
        client.post("/v1/explain", json={"text": 1, "private": "private"}, headers=headers)
        client.get("/private", headers={"Authorization": f"Bearer {KEY}private"})
    ours = [record for record in caplog.records if not record.name.startswith("httpx")]
    assert any("RuntimeError" in record.getMessage() for record in ours)
    logged = "\n".join(f"{record.getMessage()} {record.exc_text or ''}" for record in ours)
    assert "POST /v1/explain 500" in logged
    assert "private" not in logged
    assert KEY not in logged
