"""Admit callers with the key or, without a key, callers that use a name of this machine."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from rationalize.serving.api_key import is_authorized
from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.serve_settings import LOOPBACK_NAMES, ServeSettings

OPEN_TO_ALL = frozenset({"/healthz", "/readyz"})


class Doorkeeper:
    """Refuses requests before reading the body.

    Without a key, another site could point its own name to this machine and send requests (DNS rebinding); so the
    name in the Host header has to be one of ours.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._key = settings.api_key
        self._names = {*LOOPBACK_NAMES, *(name.lower() for name in settings.allowed_hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request in, or answer it here."""
        problem = self._find_problem(scope) if scope["type"] == "http" else None
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await problem.to_response()(scope, receive, send)

    def _find_problem(self, scope: Scope) -> ApiProblem | None:
        headers = Headers(scope=scope)
        if self._key is None:
            if strip_port(headers.get("host", "")) in self._names:
                return None
            return ApiProblem(
                421,
                "the service does not answer to that name",
                where="header Host",
                expected="127.0.0.1, localhost, or a name in the setting allowed_hosts",
                close=True,
            )
        given = headers.get("authorization", "").encode("latin-1")
        if scope["path"] in OPEN_TO_ALL or is_authorized(self._key, given):
            return None
        return ApiProblem(
            401,
            "no API key, or a wrong one",
            where="header Authorization",
            expected="Authorization: Bearer KEY",
            close=True,
        )


def strip_port(header: str) -> str:
    """Strip the port: `[::1]:8000` → `::1`."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()
