"""Wrap every request: security headers, a request id, a log line, a count."""

from __future__ import annotations

import logging
import secrets
import time
from itertools import count

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rationalize.serving._answering import log_without_message
from rationalize.serving._service_metrics import ServiceMetrics
from rationalize.serving.api_problem import ApiProblem

log = logging.getLogger("rationalize.serving")

PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Called every few seconds; log lines for them would bury the others."""

GONE = 499  # as proxies count callers who hang up before they are answered

_start = secrets.token_hex(4)
_numbers = count(1)

STRICT = {
    b"x-content-type-options": b"nosniff",
    b"cache-control": b"no-store",
    b"referrer-policy": b"no-referrer",
    b"x-frame-options": b"DENY",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
}
"""An answer's own header wins: a page allows itself its style."""


class Envelope:
    """Outermost layer; it catches every error inside, and logs no text.

    Args:
        app: The application inside.
        metrics: Counts the requests.
        routes: Addresses to count and log by name; others may contain anything.
    """

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics, routes: frozenset[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, number = time.perf_counter(), 0, f"{_start}-{next(_numbers)}"

        async def send_strictly(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name.lower() for name, _ in message["headers"]}
                added = [(name, value) for name, value in STRICT.items() if name not in given]
                message["headers"] = [*message["headers"], *added, (b"x-request-id", number.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_strictly)
        except Exception as error:  # the caller gets JSON, the log gets the details
            log_without_message(f"request {number} failed", error)
            if not status:
                problem = ApiProblem(
                    500,
                    "the service failed",
                    where=f"request {number}",
                    expected="an answer; the log shows more",
                )
                await problem.to_response()(scope, receive, send_strictly)
        finally:
            status = status or GONE
            seconds = time.perf_counter() - start
            route = scope["path"] if scope["path"] in self._routes else "(other)"
            self._metrics.count_request(route, status, seconds)
            level = logging.DEBUG if route in PROBES else logging.INFO
            log.log(level, "%s %s %s %d %.1f ms", number, scope["method"], route, status, 1000 * seconds)
