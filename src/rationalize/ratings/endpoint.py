"""Ask a language model behind any OpenAI-compatible `/chat/completions`, patiently and without leaking the key."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request

from rationalize.data.bounded_http import Deadline, describe_failure, name_status, open_url
from rationalize.data.fetch import Patience
from rationalize.data.part_file import strip_secrets
from rationalize.errors import ConfigError, RationalizeError
from rationalize.files import to_json
from rationalize.ratings._prompt import Messages
from rationalize.ratings._redaction import tidy
from rationalize.ratings._replies import read_complaint, read_content, read_pause_s
from rationalize.version import __version__

KEYS = ("RATIONALIZE_LLM_KEY", "OPENAI_API_KEY")
MOST_BYTES = 1 << 20
MOST_BYTES_OF_A_COMPLAINT = 1 << 16
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_HOPELESS = frozenset({401, 402, 403, 404, 405})
_NOBODY_THERE = (ConnectionRefusedError, socket.gaierror, ssl.SSLError)
_GO_ON = "Finished ratings are kept; run the same command again to continue."


class NoAnswer(Exception):
    """One question got no answer; others may still get one.

    Attributes:
        patience_spent: Whether all allowed attempts failed, so that the endpoint itself may be at fault.
    """

    def __init__(self, reason: str, *, patience_spent: bool = False) -> None:
        super().__init__(reason)
        self.patience_spent = patience_spent


class Unreachable(RationalizeError):
    """An endpoint that answers no question, so that going on is useless."""


@dataclass
class Pace:
    """Limits the number of calls per minute."""

    per_minute: float | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _next: float = field(default=0.0, init=False)

    def wait(self) -> None:
        """Return when the next call may be made."""
        if not self.per_minute:
            return
        now = self.clock()
        if self._next > now:
            self.sleep(self._next - now)
        self._next = max(now, self._next) + 60 / self.per_minute


@dataclass(frozen=True, slots=True)
class _Passing:
    """A failure that may be temporary."""

    reason: str  # safe to store
    pause_s: float = 0.0  # requested by the server
    answered: bool = False
    nowhere: str | None = None  # the address, if no server seems to be there

    def end(self, attempts: int) -> NoAnswer | Unreachable:
        """Return the error for the last attempt."""
        what = self.reason if self.answered else f"no answer after {attempts} attempts: {self.reason}"
        if self.nowhere:
            return Unreachable(f"{self.nowhere}: {what} Check the address and that the server runs. {_GO_ON}")
        return NoAnswer(what, patience_spent=True)


def read_key() -> str | None:
    """Return the key, if one is set; it is never shown or written anywhere."""
    for name in KEYS:
        key = os.environ.get(name, "").strip()
        if key:
            return _check_key(key, name)
    return None


def _check_key(key: str, shown: str) -> str:
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"{shown}: contains characters that no key has. Copy it again.")
    return key


def make_chat_url(base_url: str, key: str | None) -> str:
    """Return the address to post to; raise ConfigError if it is not usable."""
    shown = strip_secrets(base_url)
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
        usable = base_url.isascii() and base_url.isprintable() and " " not in base_url
        usable = usable and parts.scheme in {"http", "https"} and bool(host and host.encode("idna"))
    except ValueError:
        usable = False
    if not usable or not host:
        raise ConfigError(
            f"base_url {shown!r}: expected http(s)://HOST…, for instance http://127.0.0.1:8000/v1.",
            field="base_url",
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            f"base_url {shown}: give it without user, password and query; put the key into {KEYS[0]}.",
            field="base_url",
        )
    if key and parts.scheme == "http" and not _is_local(host):
        raise ConfigError(
            f"base_url {shown}: the key would travel unencrypted. Use https, or unset {' and '.join(KEYS)}.",
            field="base_url",
        )
    bare = base_url.rstrip("/")
    return bare if bare.endswith("/chat/completions") else f"{bare}/chat/completions"


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Endpoint:
    """A language model to ask.

    Args:
        base_url: Where the API is; `/chat/completions` is added.
        model: The model's name there.
        key: Sent as a bearer token; None: no key.
        temperature: Sampling temperature; None: the endpoint's default.
        patience: How often to try, how long to wait.
        pace: Limits the calls per minute, retries included.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str | None = None,
        temperature: float | None = 0.0,
        patience: Patience | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.url = make_chat_url(base_url, key)
        self.model = model
        self._key = _check_key(key, "key") if key else None
        self.temperature = temperature
        self._patience = patience or Patience(timeout_s=120.0, longest_pause_s=600.0)
        self._pace = pace or Pace()
        self._proxies: dict[str, str] | None = {} if _is_local(urlsplit(self.url).hostname or "") else None

    def ask(self, messages: Messages) -> str:
        """Return the model's answer; it must be complete within `timeout_s`.

        Raises:
            NoAnswer: If this question got no answer.
            Unreachable: If no question would get one.
        """
        deadline: Deadline | None = None
        for attempt in range(1, self._patience.attempts + 1):
            self._pace.wait()
            deadline = deadline or Deadline(self._patience.deadline_s)
            reply = self._try(messages, deadline)
            if isinstance(reply, str):
                return reply
            pause_s = self._patience.pause_s(attempt, reply.pause_s)
            if attempt == self._patience.attempts or deadline.left_s <= pause_s:
                raise reply.end(attempt)
            self._patience.sleep(pause_s)
        raise AssertionError("the last attempt returns or raises")

    def _try(self, messages: Messages, deadline: Deadline) -> str | _Passing:
        """Make one call; return a failure that may be temporary."""
        seconds = min(self._patience.timeout_s, deadline.left_s)
        try:
            with self._post(messages, Deadline(seconds)) as reply:
                if not 200 <= reply.status < 300:
                    return self._judge(reply)
                content = read_content(reply.read(MOST_BYTES).decode("utf-8", "replace"))
        except (OSError, HTTPException) as error:
            cause = error.reason if isinstance(error, URLError) else error
            if isinstance(cause, TimeoutError):
                return _Passing(f"not complete within {seconds:g} seconds (patience.timeout_s).")
            nowhere = self.url if isinstance(cause, _NOBODY_THERE) else None
            return _Passing(f"{describe_failure(error)}.", nowhere=nowhere)
        if content is None:
            raise NoAnswer("the server's reply is not a chat completion.")
        return content

    def _post(self, messages: Messages, deadline: Deadline) -> HTTPResponse:
        body: dict[str, Any] = {"model": self.model, "messages": messages}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        headers = {"Content-Type": "application/json", "User-Agent": f"rationalize/{__version__}"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self.url, to_json(body, indent=None).encode(), headers, method="POST")
        # Redirects are not followed: that would hand the key to another server.
        return open_url(request, silence_s=self._patience.timeout_s, deadline=deadline, proxies=self._proxies)

    def _judge(self, reply: HTTPResponse) -> _Passing:
        """Classify a refusal: of everything, of this question, or temporary."""
        code, pause_s = reply.status, read_pause_s(reply.headers)
        complaint = self._read_complaint(reply)
        reason = f"the server answered {f'{code}: {complaint}' if complaint else name_status(code)}."
        if code in _HOPELESS or code < 400 or pause_s > self._patience.longest_pause_s:
            raise _give_up(f"{self.url}: {reason}", code, pause_s)
        if code not in _PASSING:
            raise NoAnswer(reason)
        return _Passing(reason, pause_s, answered=True)

    def _read_complaint(self, reply: HTTPResponse) -> str:
        """Read the server's error message, without the key, which some servers repeat."""
        try:
            body = reply.read(MOST_BYTES_OF_A_COMPLAINT).decode("utf-8", "replace")
        except (OSError, HTTPException):
            return ""
        return tidy(read_complaint(body), self._key).rstrip(".")


def _give_up(reason: str, code: int, asked_s: float) -> Unreachable:
    if code in {401, 403}:
        return Unreachable(f"{reason} Set the key in {KEYS[0]}. {_GO_ON}")
    if code in _HOPELESS or code < 400:
        return Unreachable(f"{reason} Check base_url and model. {_GO_ON}", field=("base_url", "model"))
    return Unreachable(f"{reason} It asks to wait {asked_s:.0f} seconds. {_GO_ON}")
