"""What a server may not do to a rating: get the key stored or shown, take for ever, or speak through errors."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import socket
import threading
import time
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from rating_studies import GOOD, FakeModel, serving, small_study
from rationalize.data.fetch import Patience
from rationalize.errors import ConfigError, RationalizeError
from rationalize.ratings._prompt import Unusable, read_grades
from rationalize.ratings._redaction import WITHHELD, holds_key, tidy
from rationalize.ratings.endpoint import Endpoint, NoAnswer
from rationalize.ratings.guide import GUIDE
from rationalize.ratings.llm import rate
from rationalize.ratings.rating_store import RatingStore

KEY = "sk-proj-Qm7XvT2rLd9wKz4BnY6c"


def escape(text: str, form: str) -> str:
    return "".join(form.format(ord(character)) for character in text)


SPELLINGS = {
    "plain": KEY,
    "JSON": escape(KEY, "\\u{:04x}"),
    "JSON in part": KEY[:9] + escape(KEY[9], "\\u{:04x}") + KEY[10:],
    "JSON twice": escape(KEY, "\\\\u{:04X}"),
    "hexadecimal escapes": escape(KEY, "\\x{:02x}"),
    "octal escapes": escape(KEY, "\\{:03o}"),
    "split by an escaped line end": KEY[:9] + "\\n" + KEY[9:],
    "split by spaces": " ".join(KEY),
    "split by nothing visible": "\u200b".join(KEY),
    "percent": escape(KEY, "%{:02X}"),
    "percent twice": quote(quote(escape(KEY, "%{:02X}"))),
    "HTML": escape(KEY, "&#{};"),
    "HTML hexadecimal": escape(KEY, "&#x{:x};"),
    "HTML of JSON": html.escape(escape(escape(KEY, "\\u{:04x}"), "&#{};")),
    "base 64": base64.b64encode(KEY.encode()).decode(),
    "base 64 behind a name": base64.b64encode(f"me:{KEY}".encode()).decode(),
    "base 64 behind a longer name": base64.urlsafe_b64encode(f"you:{KEY}\n".encode()).decode(),
    "base 64 before more": base64.b64encode(f"{KEY} is your key".encode()).decode(),
    "hexadecimal": KEY.encode().hex(":"),
    "other case": KEY.swapcase(),
    "wide letters": "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in KEY),
    "most of it": f"{KEY[:20]}********",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_key_is_found_however_it_is_spelled(spelling):
    assert tidy(f"no such key: {spelling} (see the manual)", KEY) == WITHHELD


def test_what_is_no_key_is_shown():
    masked = f"Incorrect API key provided: {KEY[:8]}****{KEY[-4:]}."
    assert tidy(masked, KEY) == masked
    assert tidy("nothing is wrong with an empty list", "EMPTY-1") == "nothing is wrong with an empty list"
    assert holds_key("a is b", "a is")
    assert tidy("sk\n is\x1b[31m \ud800odd", None) == "sk is?[31m ?odd"
    assert len(tidy("long " * 999, None)) <= 301


@pytest.fixture
def study(tmp_path):
    return small_study(tmp_path, 2)


def run(study, *replies) -> tuple[str, bytes]:
    """Everything that is shown, and everything that is stored."""
    shown = []
    patience = Patience(attempts=2, timeout_s=5, sleep=lambda _: None)
    with serving(FakeModel(*replies)) as model:
        endpoint = Endpoint(model.base_url, "fake", key=KEY, patience=patience)
        try:
            shown += [str(failure) for failure in rate(study, RatingStore(study), endpoint).failed]
        except RationalizeError as error:
            shown.append(str(error))
    stored = b"".join(path.read_bytes() for path in study.folder.rglob("*") if path.is_file())
    return "".join(shown), stored


ECHOES = {
    "answer": (200, f"{KEY} is no grade"),
    "grade": (200, json.dumps({"usefulness": KEY, "completeness": 3, "fluency": 5})),
    "list of grades": (200, json.dumps({"usefulness": [KEY], "completeness": 3, "fluency": 5})),
    "escaped answer": (201, '{"choices": [{"message": {"content": "' + SPELLINGS["JSON"] + '"}}]}'),
    "no completion": (201, json.dumps({"choices": [], "key": KEY})),
    "complaint": (400, f"bad key {KEY}"),
    "escaped complaint": (400, '{"error": {"message": "bad key ' + SPELLINGS["JSON"] + '"}}'),
    "complaint escaped in part": (400, '{"error": "bad key ' + SPELLINGS["JSON in part"] + '"}'),
    "complaint split by an escape": (400, '{"error": "' + SPELLINGS["split by an escaped line end"] + '"}'),
    "complaint cut off": (400, '{"error": "bad key ' + SPELLINGS["JSON"]),
    "name of a field": (400, json.dumps({KEY: "is bad"}).replace("s", "\\u0073")),
    "complaint in percent": (500, "bad key " + SPELLINGS["percent"]),
    "refusal": (401, '{"detail": "' + SPELLINGS["HTML"] + '"}'),
    "redirect": (302, "", {"Location": f"/{KEY}"}),
}


@pytest.mark.parametrize("reply", ECHOES.values(), ids=ECHOES)
def test_a_key_that_comes_back_is_neither_shown_nor_stored(reply, study):
    shown, stored = run(study, reply)
    assert shown
    assert not holds_key(shown, KEY)
    assert not holds_key(stored.decode("utf-8", "replace"), KEY)


def test_an_echo_in_the_status_line_is_not_shown(study):
    def answer(connection: socket.socket) -> None:
        connection.sendall(f"HTTP/1.1 400 bad key {KEY}\r\n\r\n".encode())

    with (
        raw_server(answer) as base_url,
        pytest.raises(NoAnswer, match=r"^the server answered 400 Bad Request\.$"),
    ):
        Endpoint(base_url, "fake", key=KEY).ask([])


def test_an_odd_first_line_is_not_shown():
    with raw_server(lambda connection: connection.sendall(f"{KEY}\r\n\r\n".encode())) as base_url:
        endpoint = Endpoint(base_url, "fake", key=KEY, patience=Patience(attempts=1))
        with pytest.raises(NoAnswer, match="not proper HTTP") as caught:
            endpoint.ask([])
    assert KEY not in str(caught.value)


def test_a_complaint_is_shown_without_what_stands_around_it(study):
    body = {"error": {"message": "The text is \x1b[31mtoo long.", "param": "messages", "request": "abc"}}
    shown, stored = run(study, (400, json.dumps(body)))
    assert "the server answered 400: The text is ?[31mtoo long." in shown
    assert b"param" not in stored


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("words, words", "it holds no JSON object with grades (12 characters)."),
        (GOOD.replace("4", '"secret"'), "usefulness is a text; expected a whole number from 1 to 5."),
        (GOOD.replace("4", "null"), "usefulness is null; expected a whole number from 1 to 5."),
        (GOOD.replace("4", "4.5"), "usefulness is 4.5; expected a whole number from 1 to 5."),
        (GOOD.replace("4", "1234567"), "usefulness is a number out of range; expected"),
        (GOOD.replace("4", "NaN"), "usefulness is a number out of range; expected"),
        (GOOD.replace("4", '{"secret": 1}'), "usefulness is an object; expected"),
    ],
)
def test_a_reason_repeats_nothing_of_the_answer(answer, reason):
    with pytest.raises(Unusable) as caught:
        read_grades(GUIDE, answer)
    assert str(caught.value).startswith(reason)


def test_half_a_character_in_an_answer_does_no_harm(study):
    shown, _ = run(study, (200, "\ud800"), (200, GOOD))
    assert shown == ""


def test_a_key_that_cannot_be_sent_is_refused_without_being_shown():
    with pytest.raises(ConfigError, match=r"^key: ") as caught:
        Endpoint("http://127.0.0.1:1", "fake", key="sk-\nsecret")
    assert "secret" not in str(caught.value)


@contextlib.contextmanager
def raw_server(answer) -> Iterator[str]:
    """Takes connections one after the other, reads the request and has it answered. Ends by itself."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                with contextlib.suppress(OSError), listening.accept()[0] as connection:
                    connection.settimeout(5)
                    connection.recv(1 << 16)
                    answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            over.set()
            thread.join()


@pytest.mark.parametrize(
    "start",
    [
        b"HTTP/1.1 200 OK\r\nX-Endless: ",
        pytest.param(b"", marks=pytest.mark.slow),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n", marks=pytest.mark.slow),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", marks=pytest.mark.slow),
    ],
)
def test_an_answer_that_drips_is_held_to_the_time_limit(start, study):
    def drip(connection: socket.socket) -> None:
        connection.sendall(start)
        for _ in range(200):
            connection.sendall(b" ")
            time.sleep(0.05)

    pauses: list[float] = []
    patience = Patience(attempts=2, timeout_s=0.2, sleep=pauses.append)
    store = RatingStore(study)
    with raw_server(drip) as base_url, pytest.raises(RationalizeError) as caught:
        rate(study, store, Endpoint(base_url, "fake", patience=patience))
    assert "3 items in a row got no answer" in str(caught.value)
    assert "no answer after 2 attempts: not complete within 0.2 seconds (patience.timeout_s)" in str(
        caught.value
    )
    assert "Finished ratings are kept" in str(caught.value)
    assert len(store.read_failures()) == 3


def test_a_complaint_that_drips_is_cut_short():
    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        for _ in range(200):
            connection.sendall(b"x")
            time.sleep(0.05)

    patience = Patience(attempts=1, timeout_s=0.2)
    with raw_server(drip) as base_url, pytest.raises(NoAnswer, match="answered 400 Bad Request"):
        Endpoint(base_url, "fake", patience=patience).ask([])


def test_all_attempts_together_are_held_to_the_deadline():
    pauses: list[float] = []
    patience = Patience(attempts=9, deadline_s=30, longest_pause_s=600, sleep=pauses.append)
    with serving(
        FakeModel((503, "busy", {"Retry-After": "10"}), (503, "busy", {"Retry-After": "40"}))
    ) as model:
        endpoint = Endpoint(model.base_url, "fake", patience=patience)
        with pytest.raises(NoAnswer, match="busy"):
            endpoint.ask([])
    assert pauses == [10]
