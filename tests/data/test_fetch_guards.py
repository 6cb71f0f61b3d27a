"""What a server may not do to a download: lead astray, take for ever, speak through errors, or fill the disk."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from scripted_server import BODY, HALF, RIGHT, Answer, Server, cut, serving, status, whole

from helpers import add_slow
from rationalize.data import part_file
from rationalize.data.fetch import PartFile, Patience, download, strip_secrets
from rationalize.errors import DataError


def redirect(target: str, **headers: str) -> Answer:
    return status(302, Location=target, **headers)


def test_a_redirect_is_followed_with_its_range(server, fetch):
    server.answers = [cut(), redirect("/elsewhere.tar.gz"), whole()]
    assert fetch(server.url) == RIGHT
    assert server.ranges == [None, f"bytes={HALF}-", f"bytes={HALF}-"]


@pytest.mark.parametrize(
    "target",
    [
        "ftp://127.0.0.1/movies.tar.gz",
        "file:///etc/passwd",
        "data:,movies",
        "http://me:word@127.0.0.1/movies.tar.gz",
        "http://[::1/movies.tar.gz",
        "//:80",
    ],
)
def test_a_redirect_to_anything_but_a_plain_web_address_is_refused(target, server, fetch):
    server.answers = [redirect(target), whole()]
    with pytest.raises(DataError, match=r"redirects to .*refused") as caught:
        fetch(server.url)
    assert "me:word" not in str(caught.value)
    assert len(server.requests) == 1
    assert list(fetch.path.parent.iterdir()) == []


@pytest.fixture
def https_server(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The same script behind https, with a certificate that this process trusts."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=127.0.0.1",
    ]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(server, context) as script:
        yield script


def test_https_never_leads_to_http(server, https_server, fetch):
    server.answers = [redirect(f"{server.url}?key=secret"), whole()]
    with pytest.raises(DataError, match="unencrypted") as caught:
        fetch(https_server.url)
    assert server.url in str(caught.value)
    assert "secret" not in str(caught.value)
    assert len(server.requests) == 1


def test_http_may_lead_to_https(server, https_server, fetch):
    server.answers = [redirect(https_server.url), whole()]
    assert fetch(server.url) == RIGHT


def test_an_untrusted_certificate_is_refused_at_once(https_server, fetch, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(DataError, match="certificate is not trusted"):
        fetch(https_server.url)
    assert fetch.pauses == []


def test_redirects_without_end_are_given_up(server, fetch):
    server.answers = [redirect("/again")]
    with pytest.raises(DataError, match="more than 5 redirects"):
        fetch(server.url)
    assert len(server.requests) == 6


def drip(start: bytes) -> Answer:
    """Sends the start at once, then a byte at a time: never silent for long, and never done. Stops by itself."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(start)
        with contextlib.suppress(OSError):
            for _ in range(200):
                handler.wfile.write(b"x")
                time.sleep(0.05)

    return answer


OPENING = b'HTTP/1.1 200 OK\r\nETag: "1"\r\n'


@pytest.mark.parametrize(
    ("start", "said"),
    add_slow(
        [
            (OPENING + b"X-Endless: ", "Nothing has arrived"),
            (OPENING + b"Content-Length: 9999\r\n\r\n", r"\d+ bytes are kept in .*movies.part"),
        ],
        [
            (b"", "Nothing has arrived"),
            (b"HTTP/1.1 200 OK\r\n\r\n", r"\d+ bytes arrived; they are not"),
            (OPENING + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n", r"\d+ bytes are kept"),
            (b"HTTP/1.1 302 Found\r\nLocation: /x\r\nX-Endless: ", "Nothing has arrived"),
        ],
    ),
)
def test_a_server_that_drips_is_held_to_the_deadline(start, said, server, tmp_path):
    server.answers = [drip(start)]
    path = tmp_path / "new" / "movies.part"
    patience = Patience(deadline_s=0.5, timeout_s=5)
    with (
        pytest.raises(DataError, match=rf"(?s)not here within 0.5 seconds.*patience.deadline_s.*{said}"),
        PartFile(path, server.url) as part,
    ):
        download(server.url, part, max_bytes=10**9, patience=patience)
    assert path.exists() == ("are kept" in said)


def test_a_name_that_is_never_found_is_held_to_the_deadline(tmp_path, monkeypatch):
    found = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found.wait(10) and [])
    monkeypatch.setenv("no_proxy", "*")
    patience = Patience(deadline_s=0.2, timeout_s=5)
    url = "http://host.invalid/movies.tar.gz"
    with pytest.raises(DataError, match=r"within 0.2 seconds"), PartFile(tmp_path / "x.part", url) as part:
        download(url, part, max_bytes=10**9, patience=patience)
    found.set()


def test_a_pause_beyond_the_deadline_is_not_begun(server, fetch, tmp_path):
    server.answers = [status(503, Retry_After="50")]
    patience = Patience(deadline_s=40, sleep=fetch.pauses.append)
    with pytest.raises(DataError, match="within 40 seconds"), PartFile(fetch.path, server.url) as part:
        download(server.url, part, max_bytes=10**9, patience=patience)
    assert fetch.pauses == []


@pytest.mark.parametrize("tag", ['"\x01\x7f"', "\xe9"])
def test_a_version_that_cannot_be_sent_back_vouches_for_nothing(tag, server, fetch):
    server.answers = [cut(tag), whole()]
    assert fetch(server.url) == RIGHT
    assert server.ranges == [None, None]


def test_a_length_beyond_all_bounds_is_no_length(server, fetch):
    headers = f"HTTP/1.1 200 OK\r\nContent-Length: {'9' * 5000}\r\n\r\n".encode()
    server.answers = [lambda handler: handler.wfile.write(headers + BODY)]
    assert fetch(server.url) == RIGHT


def test_the_words_of_a_server_are_not_shown(server, fetch):
    server.answers = [lambda handler: handler.wfile.write(b"HTTP/1.1 404 \x1b[31mBoo\r\n\r\n")]
    with pytest.raises(DataError, match="404 Not Found") as caught:
        fetch(server.url)
    assert "Boo" not in str(caught.value)
    server.answers = [lambda handler: handler.wfile.write(b"\x1b[31mBoo\r\n\r\n")]
    with pytest.raises(DataError, match="not proper HTTP") as caught:
        fetch(server.url)
    assert "Boo" not in str(caught.value)


def test_an_unusable_address_is_not_shown_with_its_secrets(fetch):
    with pytest.raises(DataError, match="not a usable address") as caught:
        fetch("http://127.0.0.1:1/a b?key=secret")
    assert "secret" not in str(caught.value)
    assert strip_secrets("https://me:word?x@host/") == strip_secrets("https://[me:word") == "https://…"


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file may grow beyond 1000 bytes."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_takes_no_more_is_one_sentence_and_leaves_nothing(server, fetch, small_disk):
    server.answers = [whole()]
    with pytest.raises(DataError, match=rf"^{fetch.path}: File too large. Nothing .* was kept\.$"):
        fetch(server.url)
    assert list(fetch.path.parent.iterdir()) == []
    assert fetch.pauses == []


def test_a_part_that_cannot_be_begun_leaves_nothing(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(part_file, "write_json", full)
    with pytest.raises(OSError, match="No space left"):
        PartFile(tmp_path / "x.part", "http://a/x")
    assert list(tmp_path.iterdir()) == []
