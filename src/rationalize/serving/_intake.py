"""Read request bodies: JSON only, limited in size, time and number."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.serve_settings import ServeLimits

BODILESS = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})


class _HungUp(Exception):
    """The caller hung up in the middle of the body."""


class Intake:
    """Reads the whole body, or refuses it, before the application sees the request."""

    def __init__(self, app: ASGIApp, limits: ServeLimits) -> None:
        self._app = app
        self._limits = limits
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["method"] in BODILESS:
            await self._app(scope, receive, send)
            return
        self._open += 1
        try:
            self._check_head(
                dict(reversed(scope["headers"]))
            )  # of a name that stands twice, the first counts
            body = await self._read_in_time(receive)
            await self._app(scope, _replay(body, receive), send)
        except ApiProblem as problem:
            await problem.to_response()(scope, receive, send)
        except _HungUp:
            pass
        finally:
            self._open -= 1

    def _check_head(self, headers: Mapping[bytes, bytes]) -> None:
        """Refuse what can be refused before the first byte of the body."""
        if self._open > self._limits.open_requests:
            raise ApiProblem(
                503,
                "too many requests are open",
                where="service",
                expected=f"at most {self._limits.open_requests} (open_requests)",
                retry_after=1,
                close=True,
            )
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json" or headers.get(b"content-encoding", b"identity") != b"identity":
            raise ApiProblem(
                415,
                "the body is not plain JSON",
                where="headers Content-Type and Content-Encoding",
                expected="Content-Type: application/json, not compressed",
                close=True,
            )
        length = headers.get(b"content-length", b"")
        if length.isdigit() and (len(length) > 18 or int(length) > self._limits.body_bytes):
            raise self._refuse_large()

    async def _read_in_time(self, receive: Receive) -> bytes:
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                return await self._read(receive)
        except TimeoutError:
            raise ApiProblem(
                408,
                "the body took too long to arrive",
                where="body",
                expected=f"all of it within {self._limits.request_seconds:g} seconds (request_seconds)",
                close=True,
            ) from None

    async def _read(self, receive: Receive) -> bytes:
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _HungUp
            part = message.get("body", b"")
            size += len(part)
            if size > self._limits.body_bytes:
                raise self._refuse_large()
            parts.append(part)
            more = message.get("more_body", False)
        return b"".join(parts)

    def _refuse_large(self) -> ApiProblem:
        return ApiProblem(
            413,
            "the body is too large",
            where="body",
            expected=f"at most {self._limits.body_bytes} bytes (body_bytes)",
            close=True,
        )


def _replay(body: bytes, receive: Receive) -> Receive:
    """Make a `receive` that returns the body that was read, and then later messages."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
