"""Asking a language model behind any OpenAI-compatible `/chat/completions`, patiently and without leaking the key."""

from __future__ import annotations

import email.utils
import ipaddress
import json
import os
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from rationalize.data.fetch import Patience
from rationalize.data.part_file import strip_secrets
from rationalize.errors import ConfigError, RationalizeError
from rationalize.files import to_json
from rationalize.ratings.prompt import Messages
from rationalize.version import __version__

KEYS = ("RATIONALIZE_LLM_KEY", "OPENAI_API_KEY")
MOST_BYTES = 1 << 20
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_HOPELESS = frozenset({401, 402, 403, 404, 405})
_NOBODY_THERE = (ConnectionRefusedError, socket.gaierror, ssl.SSLError)
_GO_ON = "What was rated is kept; run the same command again to go on."


class NoAnswer(Exception):
    """One question that got no answer; others may still get theirs.

    Attributes:
        answer: What came instead.
        patience_spent: Whether it was tried as often as allowed, so that the endpoint itself may be at fault.
    """

    def __init__(self, reason: str, answer: str = "", *, patience_spent: bool = False) -> None:
        super().__init__(reason)
        self.answer = answer
        self.patience_spent = patience_spent


class Unreachable(RationalizeError):
    """An endpoint that answers nothing at all, so that going on is of no use."""


@dataclass
class Pace:
    """Keeps calls apart, so that there are at most so many in a minute."""

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


class _NoRedirect(HTTPRedirectHandler):
    """Following a redirect would hand the key to wherever it points."""

    def redirect_request(self, *_: Any) -> None:
        return None


def key_from_environment() -> str | None:
    """The key, if one is set; it is never shown, nor written anywhere."""
    for name in KEYS:
        key = os.environ.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise ConfigError(f"{name}: holds characters that no key has. Copy it again.")
        if key:
            return key
    return None


def chat_url(base_url: str, key: str | None) -> str:
    """The address to post to; ConfigError if it cannot be one."""
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"base_url: not an address: {error}.", field="base_url") from None
    shown = strip_secrets(base_url)
    if parts.scheme not in {"http", "https"} or not host:
        raise ConfigError(
            f"base_url {shown}: expected http(s)://HOST…, for instance http://127.0.0.1:8000/v1.",
            field="base_url",
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            f"base_url {shown}: give it without user, password and query; the key belongs into {KEYS[0]}.",
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
        temperature: None: left to the endpoint.
        patience: How often to try, how long to wait.
        pace: Limits the calls in a minute, repeated ones included.
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
        self.url = chat_url(base_url, key)
        self.model = model
        self._key = key
        self.temperature = temperature
        self._patience = patience or Patience(timeout_s=120.0, longest_pause_s=600.0)
        self._pace = pace or Pace()
        local = _is_local(urlsplit(self.url).hostname or "")
        self._opener = build_opener(_NoRedirect, *([ProxyHandler({})] if local else []))

    def ask(self, messages: Messages) -> str:
        """The model's answer.

        Raises:
            NoAnswer: To this question.
            Unreachable: To any.
        """
        for attempt in range(1, self._patience.attempts + 1):
            self._pace.wait()
            last = attempt == self._patience.attempts
            asked = 0.0
            try:
                return _content(self._post(messages))
            except HTTPError as error:
                with error:
                    reason, asked = self._reason(error), _requested_pause(error)
                if error.code in _HOPELESS or error.code < 400 or asked > self._patience.longest_pause_s:
                    raise _give_up(f"{self.url}: {reason}", error.code, asked) from None
                if error.code not in _PASSING or last:
                    raise NoAnswer(reason, patience_spent=error.code in _PASSING) from None
            except (OSError, HTTPException) as error:
                if last:
                    raise self._lost_error(error, attempt) from None
            self._patience.sleep(self._patience.pause_s(attempt, asked))
        raise AssertionError("the last attempt returns or raises")

    def _post(self, messages: Messages) -> str:
        body: dict[str, Any] = {"model": self.model, "messages": messages}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        headers = {"Content-Type": "application/json", "User-Agent": f"rationalize/{__version__}"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self.url, to_json(body, indent=None).encode(), headers, method="POST")
        with self._opener.open(request, timeout=self._patience.timeout_s) as reply:
            return self._redact(reply.read(MOST_BYTES).decode("utf-8", "replace"))

    def _lost_error(self, error: Exception, attempts: int) -> NoAnswer | Unreachable:
        """A server that cannot be reached at all, or one that was silent or hung up."""
        cause = error.reason if isinstance(error, URLError) else error
        what = self._redact(f"no answer after {attempts} attempts: {cause or type(cause).__name__}.")
        if isinstance(cause, _NOBODY_THERE):
            advice = f"Check the address and that the server runs. {_GO_ON}"
            return Unreachable(f"{self.url}: {what} {advice}")
        return NoAnswer(what, patience_spent=True)

    def _reason(self, error: HTTPError) -> str:
        try:
            said = error.read(MOST_BYTES).decode("utf-8", "replace")
        except (OSError, HTTPException):
            said = ""
        return self._redact(
            f"the server answered {error.code}: {' '.join(said.split())[:300] or error.reason}"
        )

    def _redact(self, text: str) -> str:
        """Some servers repeat the key in their complaints."""
        return text.replace(self._key, "(key)") if self._key else text


def _content(reply: str) -> str:
    try:
        content = json.loads(reply)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        content = None
    if not isinstance(content, str):
        raise NoAnswer("the server's reply is no chat completion.", reply)
    return content


def _requested_pause(error: HTTPError) -> float:
    """Seconds that the server asks to wait: a number, or a date."""
    asked = str(error.headers.get("Retry-After", "")).strip()
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(asked).timestamp() - time.time())
    except ValueError:
        return 0.0


def _give_up(reason: str, code: int, asked: float) -> Unreachable:
    if code in {401, 403}:
        return Unreachable(f"{reason} Set the key in {KEYS[0]}. {_GO_ON}")
    if code in _HOPELESS or code < 400:
        return Unreachable(f"{reason} Check base_url and model. {_GO_ON}", field=("base_url", "model"))
    return Unreachable(f"{reason} It asks to wait {asked:.0f} seconds. {_GO_ON}")
