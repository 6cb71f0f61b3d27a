"""Serve the page on which a person rates: on this machine only, to whoever has the address with its token.

Other sites' pages cannot post here: the Host must be this server (against DNS rebinding), a post must come from one
of its own pages (Origin) with the token, and the browser must have a cookie with the token.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from rationalize.errors import ConfigError, RationalizeError
from rationalize.files import JsonObject, to_json
from rationalize.ratings._session import Session, View

HOST = "127.0.0.1"
MOST_BYTES = 4096
TOKEN_HEADER = "X-Rating-Token"

Page = Callable[[View, str, str], str]
"""Writes a page: (what to show, token, nonce of its own script and style)."""


class RatingServer(ThreadingTCPServer):
    """Serves one rater's session."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, session: Session, page: Page, port: int = 0) -> None:
        self.session = session
        self.page = page
        self.token = secrets.token_urlsafe(24)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise ConfigError(
                f"port {port}: {error.strerror}. Choose another, or 0 for any that is free.", field="port"
            ) from None
        self.port = int(self.server_address[1])
        self.hosts = {f"{HOST}:{self.port}", f"localhost:{self.port}"}

    @property
    def url(self) -> str:
        """The address to open, token included."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def is_token(self, given: str | None) -> bool:
        """Compare with the token, in constant time."""
        return hmac.compare_digest(self.token.encode(), (given or "").encode("utf-8", "replace"))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that hang up."""


class _Refused(Exception):
    """A refused request."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: RatingServer
    timeout = 30  # seconds; a silent connection must not hold its thread forever

    def do_GET(self) -> None:
        """Answer with a page."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Save a grade."""
        self._answer(self._post)

    def _answer(self, action: Callable[[], None]) -> None:
        try:
            self._check_host()
            action()
        except _Refused as error:
            self._send(error.status, str(error))
        except RationalizeError as error:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))

    def _check_host(self) -> None:
        if self.headers.get("Host") not in self.server.hosts:
            raise _Refused(HTTPStatus.FORBIDDEN, "This server answers to its own address only.")

    def _get(self) -> None:
        address = urlsplit(self.path)
        token = parse_qs(address.query).get("token", [None])[0]
        if token is not None and self.server.is_token(token):
            # A cookie keeps the token, so that it does not stay in the address bar.
            cookie = f"{self._cookie_name}={token}; Path=/; HttpOnly; SameSite=Lax"
            self._redirect("/", cookie)
            return
        self._check_cookie()
        if address.path == "/":
            first = self.server.session.view().first_open
            self._redirect(f"/item/{first}" if first else "/end")
        elif address.path == "/end":
            self._show(self.server.session.view())
        else:
            self._show(self._find_view(address.path))

    def _find_view(self, path: str) -> View:
        number = path.removeprefix("/item/")
        # No study has that many items.
        view = self.server.session.view(int(number) if number.isdecimal() and len(number) < 10 else None)
        if view.item is None:
            raise _Refused(HTTPStatus.NOT_FOUND, "No such page.")
        return view

    def _post(self) -> None:
        self._check_cookie()
        if self.headers.get("Origin") != f"http://{self.headers['Host']}":
            raise _Refused(HTTPStatus.FORBIDDEN, "Grades are taken from this server's own pages only.")
        if not self.server.is_token(self.headers.get(TOKEN_HEADER)):
            raise _Refused(HTTPStatus.FORBIDDEN, "This page is from an earlier start; open the new address.")
        if urlsplit(self.path).path != "/grade":
            raise _Refused(HTTPStatus.NOT_FOUND, "No such page.")
        sent = self._read_body()
        try:
            done = self.server.session.save(sent.get("item"), sent.get("question"), sent.get("grade"))
        except RationalizeError as error:
            raise _Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
        self._send(HTTPStatus.OK, to_json({"done": done}), "application/json")

    def _read_body(self) -> JsonObject:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BYTES:
            raise _Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Expected at most {MOST_BYTES} bytes of JSON."
            )
        try:
            sent = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            sent = None
        if not isinstance(sent, dict):
            raise _Refused(HTTPStatus.BAD_REQUEST, "Expected a JSON object.")
        return sent

    @property
    def _cookie_name(self) -> str:
        # Cookies are shared between ports; two raters' servers must not take each other's.
        return f"rating-{self.server.port}"

    def _check_cookie(self) -> None:
        try:
            found = SimpleCookie(self.headers.get("Cookie", "")).get(self._cookie_name)
        except CookieError:
            found = None
        if found is None or not self.server.is_token(found.value):
            raise _Refused(HTTPStatus.FORBIDDEN, "Open the whole address that the terminal shows.")

    def _show(self, view: View) -> None:
        nonce = secrets.token_urlsafe(16)
        page = self.server.page(view, self.server.token, nonce)
        self._send(HTTPStatus.OK, page, "text/html; charset=utf-8", nonce)

    def _redirect(self, place: str, cookie: str | None = None) -> None:
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", place)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", "0")
        self._finish_head()

    def _send(
        self, status: HTTPStatus, text: str, kind: str = "text/plain; charset=utf-8", nonce: str = ""
    ) -> None:
        body = text.encode("utf-8", "replace")
        own = f"'nonce-{nonce}'" if nonce else "'none'"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header(
            "Content-Security-Policy",
            f"default-src 'none'; script-src {own}; style-src {own}; connect-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        )
        self._finish_head()
        self.wfile.write(body)

    def _finish_head(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log no requests."""
