"""How much is taken, and what callers get who bring more: the right status, and what, where and what was expected."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest
from serving_helpers import BASE, PATIENCE, StubModel, asking, asking_at_once, stub_app, wait_until
from starlette.testclient import TestClient

from rationalize.serving.app import create_app
from rationalize.serving.serve_settings import ServeSettings

SMALL = {"body_bytes": 4000, "text_chars": 50, "call_texts": 3}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client():
    with asking(stub_app(**SMALL)) as found:
        yield found


def error_of(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    error = answer.json()["error"]
    assert all(isinstance(error[name], str) and error[name] for name in ("what", "where", "expected"))
    return error


@pytest.mark.parametrize(
    ("call", "where", "expected"),
    [
        ({}, "body", "one of them"),
        ({"text": "x", "texts": ["y"]}, "body", "one of them"),
        ({"text": None}, "body", "one of them"),
        ({"text": 5}, "text", "Input should be a valid string"),
        ({"text": ["x"]}, "text", "Input should be a valid string"),
        ({"texts": ["x", 5]}, "texts[1]", "Input should be a valid string"),
        ({"texts": []}, "texts", "1 to 3 texts (call_texts)"),
        ({"texts": ["x"] * 4}, "texts", "1 to 3 texts (call_texts)"),
        ({"text": "x" * 51}, "text", "at most 50 characters (text_chars)"),
        ({"text": "x", "query": "x" * 51}, "query", "at most 50 characters (text_chars)"),
        ({"texts": ["x", "x" * 51]}, "texts[1]", "at most 50 characters (text_chars)"),
        ({"texts": ["x"], "queries": ["x" * 51]}, "queries[0]", "at most 50 characters (text_chars)"),
        ({"texts": ["x"], "queries": []}, "body", "one query per text, in order"),
        ({"texts": ["x"], "query": "y"}, "body", "queries, one per text"),
        ({"text": "x", "trunkate": True}, "trunkate", "a field that /openapi.json lists"),
        ({"text": "x", "truncate": "yes"}, "truncate", "Input should be a valid boolean"),
        ([], "body", "Input should be a valid dictionary or object to extract fields from"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_by_field(client, call, where, expected):
    for path in ("/v1/explain", "/v1/predict"):
        error = error_of(client.post(path, json=call), 422)
        assert (error["where"], error["expected"]) == (where, expected)


def test_all_wrong_fields_are_named(client):
    error = error_of(client.post("/v1/explain", json={"text": 1, "model": 2, "texts": [3]}), 422)
    assert [error["where"], *(other["where"] for other in error["others"])] == ["text", "texts[0]", "model"]


@pytest.mark.parametrize(
    ("body", "status", "where"),
    [
        (b"", 422, "body"),
        (b'{"text": "x"', 422, "body, character 12"),
        (b"[" * 3999, 400, "body"),
        (b'{"text": "\xff"}', 400, "body"),
        (b'{"text": "\\ud800"}', 422, "text"),
        (b'{"text": "x", "query": "\\udc00"}', 422, "query"),
        (b'{"text": "x", "\\ud800": 1}', 422, "body"),
        (b'{"text": "x", "%b": 1}' % (b"y" * 3000), 422, "y" * 60 + "…"),
    ],
    ids=["empty", "cut", "deep", "not UTF-8", "half a text", "half a query", "half a name", "long name"],
)
def test_a_body_that_is_no_json_is_refused(client, body, status, where):
    assert error_of(client.post("/v1/explain", content=body, headers=JSON), status)["where"] == where


@pytest.mark.parametrize(
    "headers",
    [{}, {"Content-Type": "text/plain"}, {"Content-Type": "application/json", "Content-Encoding": "gzip"}],
)
def test_only_plain_json_is_taken(client, headers):
    error_of(client.post("/v1/explain", content=b'{"text": "x"}', headers=headers), 415)


def test_unknown_addresses_and_methods_are_refused_as_json(client):
    error_of(client.get("/v2"), 404)
    error_of(client.get("/v1/explain"), 405)


def test_a_body_that_says_it_is_too_large_is_not_read(client):
    def body():
        pytest.fail("it was read")
        yield b""

    headers = {**JSON, "Content-Length": "4001"}
    error = error_of(client.post("/v1/explain", content=body(), headers=headers), 413)
    assert error["expected"] == "at most 4000 bytes (body_bytes)"


def test_a_body_in_chunks_is_counted_as_it_arrives():
    sent = []

    async def chunks(n):
        for number in range(n):
            sent.append(number)
            yield b" " * 1000

    async def ask(n):
        async with asking_at_once(stub_app(**SMALL)) as client:
            return await client.post("/v1/explain", content=chunks(n), headers=JSON)

    answer = asyncio.run(ask(1000))
    error_of(answer, 413)
    assert answer.headers["Connection"] == "close"
    assert len(sent) < 10
    assert "not JSON" in error_of(asyncio.run(ask(4)), 422)["what"]  # as many bytes as may be


def test_a_body_that_does_not_arrive_is_given_up():
    async def never():
        yield b'{"te'
        await asyncio.sleep(60)

    async def ask():
        async with asking_at_once(stub_app(request_seconds=0.05)) as client:
            return await client.post("/v1/explain", content=never(), headers=JSON)

    error_of(asyncio.run(ask()), 408)


def queue_of(app):
    return app.state.service.workers["stub"]._queue


async def ask_while_busy(app, model, calls, meanwhile):
    """One call that keeps the model busy, then `calls` waiting behind it, then whatever happens meanwhile."""
    model.release.clear()
    async with asking_at_once(app) as client:

        async def post(call):
            return await client.post("/v1/explain", json=call)

        first = asyncio.create_task(post({"text": "first"}))
        await asyncio.to_thread(model.busy.wait)
        waiting = [asyncio.create_task(post(call)) for call in calls]
        while len(queue_of(app)) < len(calls):
            await asyncio.sleep(0.002)
        try:
            result = await meanwhile(post)
        finally:
            model.release.set()
        return result, await asyncio.gather(first, *waiting)


def test_a_full_queue_refuses_at_once_and_says_when_to_come_again():
    model = StubModel()
    app = stub_app(model, queue_texts=3, call_texts=3)

    async def run():
        async def meanwhile(post):
            refused = await post({"texts": ["too", "many"]})
            fits = asyncio.create_task(post({"text": "fits"}))
            while len(queue_of(app)) < 3:
                await asyncio.sleep(0.002)
            return refused, await post({"text": "late"}), fits

        (refused, late, fits), others = await ask_while_busy(
            app, model, [{"text": "a"}, {"text": "b"}], meanwhile
        )
        return refused, late, [await fits, *others]

    refused, late, answered = asyncio.run(run())
    for answer in (refused, late):
        error = error_of(answer, 429)
        assert error["expected"] == "at most 3 waiting texts"
        assert answer.headers["Retry-After"] == str(error["retry_after"]) == "1"
    assert [answer.status_code for answer in answered] == [200] * 4
    assert "too" not in model.texts


def test_a_slow_answer_is_given_up_and_what_waits_of_it_is_not_read():
    model = StubModel()
    app = stub_app(model, request_seconds=0.3, batch_texts=1)

    async def wait_in_vain(post):
        return await post({"texts": ["never read", "neither"]})

    late, (first,) = asyncio.run(ask_while_busy(app, model, [], wait_in_vain))
    assert error_of(late, 504)["what"] == "no answer within 0.3 seconds"
    error_of(first, 504)
    assert model.texts == ["first"]


def test_what_a_caller_who_hung_up_waited_for_is_not_read():
    model = StubModel()
    app = stub_app(model, batch_texts=1)

    async def hang_up(post):
        messages = [{"type": "http.request", "body": json.dumps({"text": "nobody cares"}).encode()}]
        left = asyncio.Event()

        async def receive():
            if messages:
                return messages.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            pass

        headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/explain",
            "headers": headers,
            "query_string": b"",
        }
        request = asyncio.create_task(app({**scope, "root_path": ""}, receive, send))
        while len(queue_of(app)) < 1:
            await asyncio.sleep(0.002)
        left.set()
        await request
        return len(queue_of(app))

    still_waiting, (first,) = asyncio.run(ask_while_busy(app, model, [], hang_up))
    assert still_waiting == 0
    assert first.status_code == 200
    assert model.texts == ["first"]


def test_open_requests_are_counted():
    model = StubModel()
    app = stub_app(model, open_requests=2)

    async def one_more(post):
        return await post({"text": "third"})

    third, answered = asyncio.run(ask_while_busy(app, model, [{"text": "second"}], one_more))
    assert error_of(third, 503)["where"] == "service"
    assert third.headers["Retry-After"] == "1"
    assert [answer.status_code for answer in answered] == [200, 200]


def test_a_model_that_is_still_loaded_asks_for_patience():
    loaded = threading.Event()

    def load(folder, device):
        assert loaded.wait(PATIENCE)
        return StubModel()

    app = create_app(ServeSettings(), {"stub": Path("stub")}, load=load)
    with TestClient(app, BASE) as client:
        answer = client.post("/v1/explain", json={"text": "x"})
        assert client.get("/readyz").json()["models"]["stub"]["state"] == "loading"
        loaded.set()
        assert "loaded" in error_of(answer, 503)["what"]
        assert int(answer.headers["Retry-After"]) > 0
        wait_until(lambda: client.get("/readyz").status_code == 200)
        assert client.post("/v1/explain", json={"text": "x"}).status_code == 200
