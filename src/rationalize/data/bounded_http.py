"""HTTP in bounded time: looking up the name, connecting, sending and every single byte count against one deadline.

A time-out for each wait alone is not enough: a server that sends one byte now and then never runs into it.
"""

from __future__ import annotations

import io
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection, IncompleteRead, RemoteDisconnected
from typing import Any, cast
from urllib.error import URLError
from urllib.request import AbstractHTTPHandler, OpenerDirector, ProxyHandler, Request, UnknownHandler


class Deadline:
    """A time limit for several steps together, from now on."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    @property
    def left_s(self) -> float:
        """Seconds that are left; not above 0 when the time is up."""
        return self._end - self._clock()

    def limit(self, wait_s: float) -> float:
        """Return the wait, or the time left if that is less; TimeoutError if none is left."""
        left_s = self.left_s
        if left_s <= 0:
            raise TimeoutError("the time is up")
        return min(wait_s, left_s)


def open_url(
    request: Request, *, silence_s: float, deadline: Deadline, proxies: dict[str, str] | None = None
) -> HTTPResponse:
    """Send a request. The reply is given back whatever its status; reading it is held to the deadline, too.

    Redirects are not followed: who asks knows where one may lead.

    Args:
        request: What to ask for, over http or https; other kinds of addresses are unknown here.
        silence_s: The longest wait for anything to happen.
        deadline: When everything must be over.
        proxies: By scheme; None: as the environment has them.
    """
    opener = OpenerDirector()
    for handler in (ProxyHandler(proxies), UnknownHandler(), _TimedHandler(deadline)):
        opener.add_handler(handler)
    return cast(HTTPResponse, opener.open(request, timeout=silence_s))


def describe_failure(error: Exception) -> str:
    """Why a call failed, in words that are none of the server's."""
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return "it took too long"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {cause.verify_message}"
    if isinstance(cause, RemoteDisconnected | IncompleteRead):
        return "the server hung up"
    if isinstance(cause, OSError):
        return str(cause.strerror or type(cause).__name__)
    return "the answer is not proper HTTP"


def name_status(code: int) -> str:
    """Return a status with its usual name, not the one that the server gives it."""
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


class _TimedReader(io.RawIOBase):
    """Reads from a socket, and looks at the clock before every read."""

    def __init__(
        self, raw: io.RawIOBase, connected: socket.socket, silence_s: float, deadline: Deadline
    ) -> None:
        self._raw = raw  # it keeps the socket open for as long as the reply is read
        self._socket = connected
        self._silence_s = silence_s
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(self._deadline.limit(self._silence_s))
        return cast("int | None", cast(Any, self._raw).readinto(buffer))

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    def __init__(
        self, sock: socket.socket, *args: Any, silence_s: float, deadline: Deadline, **kwargs: Any
    ) -> None:
        super().__init__(sock, *args, **kwargs)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_TimedReader(raw, sock, silence_s, deadline))


class _TimedConnection(HTTPConnection):
    """A connection whose every step is held to the deadline."""

    def __init__(self, host: str, *, deadline: Deadline, timeout: float, **kwargs: Any) -> None:
        super().__init__(host, timeout=timeout, **kwargs)
        self._silence_s, self._deadline = timeout, deadline
        # The standard library has no public place to hand in either of them.
        mine = cast(Any, self)
        mine._create_connection = partial(_connect, deadline)
        mine.response_class = partial(_TimedResponse, silence_s=timeout, deadline=deadline)

    def send(self, data: Any) -> None:
        if self.sock is not None:
            self.sock.settimeout(self._deadline.limit(self._silence_s))
        super().send(data)


class _TimedTlsConnection(_TimedConnection, HTTPSConnection):
    pass


class _TimedHandler(AbstractHTTPHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, request: Request) -> HTTPResponse:
        return self.do_open(partial(_TimedConnection, deadline=self._deadline), request)

    def https_open(self, request: Request) -> HTTPResponse:
        connection = partial(_TimedTlsConnection, deadline=self._deadline)
        return self.do_open(connection, request, context=ssl.create_default_context())

    http_request = https_request = AbstractHTTPHandler.do_request_


def _connect(
    deadline: Deadline, address: tuple[str, int], timeout: float, source_address: Any = None
) -> socket.socket:
    """`socket.create_connection` allows the time-out for every address of a host; here all share one."""
    failure = OSError(f"{address[0]} has no address")
    for family, kind, protocol, _, place in _look_up(address, deadline.limit(timeout)):
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(deadline.limit(timeout))
            connection.connect(place)
            return connection
        except OSError as error:
            connection.close()
            failure = error
    raise failure


def _look_up(address: tuple[str, int], wait_s: float) -> list[Any]:
    """`socket.getaddrinfo`, which knows no time-out: one that takes too long is left to itself."""
    answers: queue.SimpleQueue[list[Any] | Exception] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            answers.put(socket.getaddrinfo(*address, type=socket.SOCK_STREAM))
        except Exception as error:
            answers.put(error)

    threading.Thread(target=look_up, daemon=True).start()
    try:
        answer = answers.get(timeout=wait_s)
    except queue.Empty:
        raise TimeoutError(f"looking up {address[0]} took too long") from None
    if isinstance(answer, Exception):
        raise answer
    return answer
