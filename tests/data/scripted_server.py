"""A web server on this machine that answers by a script, and a fetcher that never really pauses."""

from __future__ import annotations

import hashlib
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from rationalize.data.fetch import PartFile, Patience, Watcher, download

BODY = b"".join(hashlib.sha256(str(number).encode()).digest() for number in range(20_000))
HALF = len(BODY) // 2
Answer = Callable[[BaseHTTPRequestHandler], None]


def send(
    handler: BaseHTTPRequestHandler,
    status: int = 200,
    body: bytes = b"",
    *,
    announced: int | None = None,
    **headers: str,
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body) if announced is None else announced))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)
    handler.close_connection = True


def whole(etag: str | None = '"1"', body: bytes = BODY) -> Answer:
    """An honest server: knows ranges and If-Range."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        tags = {"ETag": etag} if etag else {}
        wanted = handler.headers.get("Range")
        if not wanted or handler.headers.get("If-Range") != etag:
            return send(handler, body=body, **tags)
        start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if start >= len(body):
            return send(handler, 416, Content_Range=f"bytes */{len(body)}", **tags)
        span = f"bytes {start}-{len(body) - 1}/{len(body)}"
        return send(handler, 206, body[start:], Content_Range=span, **tags)

    return answer


def cut(etag: str | None = '"1"', **headers: str) -> Answer:
    tags = {"ETag": etag} if etag else {}
    return lambda handler: send(handler, body=BODY[:HALF], announced=len(BODY), **tags, **headers)


def status(code: int, **headers: str) -> Answer:
    return lambda handler: send(handler, code, **headers)


class Server:
    """Answers the first request with the first answer and so on; the last one stays."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: list[Answer] = []
        self.requests: list[dict[str, str]] = []

    @property
    def ranges(self) -> list[str | None]:
        return [request.get("Range") for request in self.requests]


@contextmanager
def serving(script: Server | None = None, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server on this machine, with a script of its own or another's, over http or https."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            script.requests.append(dict(self.headers))
            answer = script.answers.pop(0) if len(script.answers) > 1 else script.answers[0]
            answer(self)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        url = f"{'https' if tls else 'http'}://127.0.0.1:{http.server_port}/movies.tar.gz"
        script = script or Server(url)
        if tls:
            http.socket = tls.wrap_socket(http.socket, server_side=True)
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield script if not tls else Server(url)
        http.shutdown()
        thread.join()


class Fetcher:
    """Downloads to one place, without ever really pausing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pauses: list[float] = []

    def __call__(
        self, url: str, *, attempts: int = 4, max_bytes: int = 10**9, watcher: Watcher | None = None
    ) -> str:
        patience = Patience(attempts=attempts, timeout_s=5, sleep=self.pauses.append)
        with PartFile(self.path, url) as part:
            download(url, part, max_bytes=max_bytes, patience=patience, watcher=watcher)
            assert part.path.read_bytes() == BODY
            return part.sha256


RIGHT = hashlib.sha256(BODY).hexdigest()
