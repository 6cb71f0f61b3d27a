from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest
from scripted_server import BODY, HALF, RIGHT, Answer, cut, send, status, whole

from rationalize.data.fetch import PartFile, Patience, Watcher, strip_secrets
from rationalize.errors import DataError
from rationalize.files import read_json


def test_one_request_when_all_is_well(server, fetch):
    server.answers = [whole()]
    assert fetch(server.url) == RIGHT
    assert server.ranges == [None]
    assert fetch.pauses == []


def test_a_cut_download_goes_on_where_it_stopped(server, fetch):
    server.answers = [cut(), whole()]
    assert fetch(server.url) == RIGHT
    assert server.ranges == [None, f"bytes={HALF}-"]
    assert server.requests[1]["If-Range"] == '"1"'


def test_the_next_run_goes_on_and_hashes_the_old_bytes_too(server, fetch):
    server.answers = [cut()]
    with pytest.raises(
        DataError, match=f"1 attempts.*cut at {HALF:,} of {len(BODY):,}.*{HALF:,} bytes are kept"
    ):
        fetch(server.url, attempts=1)
    server.answers = [whole()]
    assert fetch(server.url) == RIGHT
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_a_complete_part_needs_no_byte_more(server, fetch):
    server.answers = [whole()]
    fetch(server.url)
    assert fetch(server.url) == RIGHT
    assert server.ranges == [None, f"bytes={len(BODY)}-"]
    assert fetch.pauses == []


def test_last_modified_vouches_where_there_is_no_strong_tag(server, fetch):
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    server.answers = [cut('W/"weak"', Last_Modified=date), whole()]
    assert fetch(server.url) == RIGHT
    assert server.requests[1]["If-Range"] == date


def test_nothing_is_continued_that_nobody_vouches_for(server, fetch):
    server.answers = [cut(None), whole()]
    assert fetch(server.url) == RIGHT
    assert server.ranges == [None, None]


def test_another_address_does_not_continue_the_part(server, fetch):
    server.answers = [cut()]
    with pytest.raises(DataError):
        fetch(server.url, attempts=1)
    server.answers = [whole()]
    assert fetch(server.url.replace("movies", "boolq")) == RIGHT
    assert server.ranges == [None, None]


def test_a_server_that_ignores_ranges_is_begun_anew(server, fetch):
    server.answers = [cut(), lambda handler: send(handler, body=BODY, ETag='"1"')]
    assert fetch(server.url) == RIGHT


def test_a_changed_file_is_begun_anew(server, fetch):
    server.answers = [
        lambda handler: send(handler, body=b"old" * 999, announced=len(BODY), ETag='"old"'),
        whole('"new"'),
    ]
    assert fetch(server.url) == RIGHT


@pytest.mark.parametrize(
    ("content_range", "etag"),
    [
        (f"bytes {HALF}-{len(BODY) - 1}/{len(BODY)}", '"2"'),  # another version, If-Range ignored
        (f"bytes {HALF}-{len(BODY)}/{len(BODY) + 1}", '"1"'),  # another length
        (f"bytes 0-{HALF}/{len(BODY)}", '"1"'),  # another place
        ("gibberish", '"1"'),
    ],
)
def test_a_range_that_does_not_fit_is_not_glued_on(content_range, etag, server, fetch):
    wrong = BODY[:HALF]
    server.answers = [
        cut(),
        lambda handler: send(handler, 206, wrong, Content_Range=content_range, ETag=etag),
        whole(),
    ]
    assert fetch(server.url) == RIGHT
    assert server.ranges[2] is None


@pytest.mark.parametrize(
    "headers", [{}, {"Content_Range": f"bytes */{HALF - 7}"}, {"Content_Range": f"bytes */{HALF}"}]
)
def test_an_unsatisfiable_range_starts_over(headers, server, fetch):
    # The last one agrees with what is here, but not with the length that was announced first.
    server.answers = [cut(), status(416, **headers), whole()]
    assert fetch(server.url) == RIGHT
    assert server.ranges[2] is None


def test_a_busy_server_is_asked_again_with_growing_pauses(server, fetch):
    server.answers = [status(503), status(503, Retry_After="7"), status(429), whole()]
    assert fetch(server.url) == RIGHT
    assert fetch.pauses == [1, 7, 4]


def test_no_pause_is_longer_than_the_longest():
    assert Patience(longest_pause_s=9).pause_s(30, asked_s=10**6) == 9


@pytest.mark.parametrize(
    ("code", "asked", "problem"),
    [(500, 4, r"after 4 attempts.*500.*Nothing has arrived"), (404, 1, r"404 Not Found.*base_url")],
)
def test_a_server_that_stays_broken_is_given_up_and_one_that_refuses_is_not_asked_again(
    server, fetch, code, asked, problem
):
    server.answers = [status(code)]
    with pytest.raises(DataError, match=problem):
        fetch(server.url)
    assert len(server.requests) == asked
    assert list(fetch.path.parent.iterdir()) == []


def test_a_length_that_is_never_reached_is_given_up(server, fetch):
    server.answers = [lambda handler: send(handler, body=BODY, announced=len(BODY) + 5, ETag='"1"')]
    with pytest.raises(DataError, match=f"cut at {len(BODY):,} of {len(BODY) + 5:,}"):
        fetch(server.url)


def test_a_dropped_connection_counts_as_an_attempt(server, fetch):
    server.answers = [lambda handler: None, whole()]
    assert fetch(server.url) == RIGHT
    assert fetch.pauses == [1]


def test_chunks_without_a_length(server, fetch):
    def answer(complete: bool) -> Answer:
        def chunked(handler: BaseHTTPRequestHandler) -> None:
            handler.protocol_version = "HTTP/1.1"
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            for start in range(0, len(BODY) if complete else HALF, 50_000):
                piece = BODY[start : start + 50_000]
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            handler.wfile.write(b"0\r\n\r\n" if complete else b"")
            handler.close_connection = True

        return chunked

    server.answers = [answer(False), answer(True)]
    assert fetch(server.url) == RIGHT
    assert fetch.pauses == [1]


@pytest.mark.parametrize("announced", [len(BODY), None])
def test_more_than_the_limit_is_refused_and_removed(announced, server, fetch):
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("ETag", '"1"')
        handler.end_headers()
        handler.wfile.write(BODY)

    server.answers = [whole() if announced else endless]
    with pytest.raises(DataError, match="more than 1,000 bytes"):
        fetch(server.url, max_bytes=1000)
    assert list(fetch.path.parent.iterdir()) == []


def test_an_interruption_keeps_what_arrived(server, fetch):
    class Impatient(Watcher):
        notes: list[str] = []  # noqa: RUF012

        def progress(self, done: int, total: int | None) -> None:
            if done > 1000:
                raise KeyboardInterrupt

        def note(self, text: str) -> None:
            self.notes.append(text)

    server.answers = [whole()]
    with pytest.raises(KeyboardInterrupt):
        fetch(server.url, watcher=Impatient())
    kept = fetch.path.stat().st_size
    assert f"{kept:,} bytes are kept" in Impatient.notes[-1]
    assert fetch(server.url) == RIGHT
    assert server.ranges[1] == f"bytes={kept}-"


def test_progress_is_told_up_to_the_end(server, fetch):
    class Scribe(Watcher):
        seen: list[tuple[int, int | None]] = []  # noqa: RUF012

        def progress(self, done: int, total: int | None) -> None:
            self.seen.append((done, total))

    server.answers = [whole()]
    fetch(server.url, watcher=Scribe())
    assert Scribe.seen[0] == (0, len(BODY))
    assert Scribe.seen[-1] == (len(BODY), len(BODY))


def test_two_downloads_to_one_place_are_refused(tmp_path):
    with PartFile(tmp_path / "x.part", "http://a/x"), pytest.raises(DataError, match="another process"):
        PartFile(tmp_path / "x.part", "http://a/x")


@pytest.mark.parametrize(
    "state", ["", "[]", '{"url": 1}', '{"url": "http://a/x", "version": "5", "total": "many"}']
)
def test_a_part_with_a_damaged_state_is_begun_anew(state, tmp_path):
    (tmp_path / "x.part").write_bytes(b"12345")
    (tmp_path / "x.part.json").write_text(state)
    with PartFile(tmp_path / "x.part", "http://a/x") as part:
        assert (part.size, part.version, part.total) == (0, None, None)


def test_secrets_of_an_address_are_not_recorded(tmp_path):
    url = "https://me:word@host:8/x.zip?key=secret#there"
    assert strip_secrets(url) == "https://host:8/x.zip"
    with PartFile(tmp_path / "x.part", url):
        assert read_json(tmp_path / "x.part.json")["url"] == "https://host:8/x.zip"
