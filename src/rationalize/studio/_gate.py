"""Who may use the pages: this machine, with the key, from the pages themselves.

Other sites' pages cannot post here: the Host must be ours (against DNS rebinding), the browser must have the cookie
with the key, and a post must come from one of our own pages (Origin) with the token that only they have.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from rationalize.serving.api_key import is_authorized
from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.doorkeeper import OPEN_TO_ALL, strip_port
from rationalize.serving.serve_settings import LOOPBACK_NAMES, ServeSettings, is_loopback

ENTRANCE = "/enter"
TOKEN_HEADER = "X-Studio-Token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE_S = 60 * 60 * 24 * 90


class Keys:
    """The key that opens the pages, and what is derived from it."""

    def __init__(self, key: str) -> None:
        self.key = SecretStr(key)
        # Cookies are shared between ports; two studios must not take each other's.
        self.mark = hashlib.sha256(key.encode()).hexdigest()[:12]
        self.cookie = f"studio-{self.mark}"
        self.person_cookie = f"person-{self.mark}"
        self.token = hmac.new(key.encode(), b"page token", hashlib.sha256).hexdigest()

    def is_key(self, given: str | None) -> bool:
        """Compare with the key, in constant time."""
        expected = self.key.get_secret_value().encode()
        return hmac.compare_digest(expected, (given or "").encode("utf-8", "replace"))

    def is_token(self, given: str | None) -> bool:
        """Compare with the token of our own pages, in constant time."""
        return hmac.compare_digest(self.token.encode(), (given or "").encode("utf-8", "replace"))

    def let_in(self, response: Response) -> Response:
        """Give the browser its cookie."""
        response.set_cookie(
            self.cookie,
            self.key.get_secret_value(),
            max_age=COOKIE_S,
            httponly=True,
            samesite="lax",
        )
        return response


class Gate:
    """Refuses requests before their body is read.

    Args:
        app: The application inside.
        keys: What opens the pages.
        settings: Which names of this machine are ours.
        ask_key: Makes the page that asks for the key.
    """

    def __init__(
        self, app: ASGIApp, keys: Keys, settings: ServeSettings, ask_key: Callable[[Request], Response]
    ) -> None:
        self._app = app
        self._keys = keys
        self._ask_key = ask_key
        own = LOOPBACK_NAMES if is_loopback(settings.host) else ()
        self._names = {*own, *(name.lower() for name in settings.allowed_hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request in, or answer it here."""
        answer = self._answer(Request(scope)) if scope["type"] == "http" else None
        if answer is None:
            await self._app(scope, receive, send)
        else:
            await answer(scope, receive, send)

    def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that is not let in."""
        if self._names and strip_port(request.headers.get("host", "")) not in self._names:
            return ApiProblem(
                421,
                "the studio does not answer to that name",
                where="header Host",
                expected="127.0.0.1, localhost, or a name in the setting allowed_hosts",
                close=True,
            ).to_response()
        path = request.url.path
        if path in OPEN_TO_ALL or path.startswith("/static/"):
            return None
        if is_authorized(self._keys.key, request.headers.get("authorization", "").encode("latin-1")):
            return None
        if request.method in SAFE:
            return self._check_visit(request, path)
        return self._check_post(request, path)

    def _check_visit(self, request: Request, path: str) -> Response | None:
        if self._keys.is_key(request.query_params.get("key")):
            # A cookie keeps the key, so that it does not stay in the address bar.
            rest = urlencode([pair for pair in request.query_params.multi_items() if pair[0] != "key"])
            return self._keys.let_in(RedirectResponse(f"{path}?{rest}" if rest else path, 303))
        if path == ENTRANCE or self._keys.is_key(request.cookies.get(self._keys.cookie)):
            return None
        if "text/html" in request.headers.get("accept", ""):
            return self._ask_key(request)
        return _refuse(401, "no key, or a wrong one", "cookie", "the whole address that the terminal shows")

    def _check_post(self, request: Request, path: str) -> Response | None:
        origin = urlsplit(request.headers.get("origin", "")).netloc
        if not origin or origin.lower() != request.headers.get("host", "").lower():
            return _refuse(
                403, "the request comes from another site", "header Origin", "one of our own pages"
            )
        if path == ENTRANCE:
            return None
        if not self._keys.is_key(request.cookies.get(self._keys.cookie)):
            return _refuse(
                401, "no key, or a wrong one", "cookie", "the whole address that the terminal shows"
            )
        if not self._keys.is_token(request.headers.get(TOKEN_HEADER)):
            return _refuse(
                403, "the page is not ours, or too old", f"header {TOKEN_HEADER}", "a reloaded page"
            )
        return None


def _refuse(status: int, what: str, where: str, expected: str) -> Response:
    return ApiProblem(status, what, where=where, expected=expected, close=True).to_response()
