"""How much is taken, and what callers get who bring more: the right status, and what, where and what was expected."""

from __future__ import annotations

import asyncio

import pytest
from serving_helpers import asking, asking_at_once, error_of, stub_app

SMALL = {"body_bytes": 4000, "text_chars": 50, "call_texts": 3}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client():
    with asking(stub_app(**SMALL)) as found:
        yield found


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
        ([], "body", "a JSON object"),
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
