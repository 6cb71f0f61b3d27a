"""More than can be read at once: who waits, who is refused, and who is no longer read for."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

from serving_helpers import BASE, PATIENCE, StubModel, asking_at_once, error_of, stub_app, wait_until
from starlette.testclient import TestClient

from rationalize.serving.app import create_app
from rationalize.serving.serve_settings import ServeSettings


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
        return len(queue_of(app)), app.state.service.metrics.render().decode()

    (still_waiting, counted), (first,) = asyncio.run(ask_while_busy(app, model, [], hang_up))
    assert still_waiting == 0
    assert 'rationalize_requests_total{route="/v1/explain",status="499"} 1.0' in counted
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
