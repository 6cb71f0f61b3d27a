"""Error answers: always JSON, always with what is wrong, where, and what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from rationalize.files import to_json

MOST_SHOWN = 20
LONGEST_NAME = 60
IN_PLAIN_WORDS = {
    404: ("nothing at this address", "an address that /openapi.json lists"),
    405: ("this address does not take that method", "a method that /openapi.json lists"),
    400: ("the body cannot be read", "JSON in UTF-8"),
}


class ApiProblem(Exception):
    """A refused request.

    Attributes:
        status: The HTTP status.
        what: What is wrong, without the caller's text.
        where: The field, header or address.
        expected: What was expected.
        others: More problems of the same request, as (what, where, expected).
        retry_after: Seconds until a retry makes sense.
        close: Whether to close the connection, because the rest of the body is not read.
    """

    def __init__(
        self,
        status: int,
        what: str,
        *,
        where: str,
        expected: str,
        others: Sequence[tuple[str, str, str]] = (),
        retry_after: int | None = None,
        close: bool = False,
    ) -> None:
        super().__init__(what)
        self.status = status
        self.what = what
        self.where = where
        self.expected = expected
        self.others = tuple(others)
        self.retry_after = retry_after
        self.close = close

    def to_response(self) -> Response:
        """Make the error response."""
        error: dict[str, Any] = {"what": self.what, "where": self.where, "expected": self.expected}
        if self.others:
            names = ("what", "where", "expected")
            error["others"] = [dict(zip(names, other, strict=True)) for other in self.others]
        headers = {}
        if self.retry_after is not None:
            error["retry_after"] = self.retry_after
            headers["Retry-After"] = str(self.retry_after)
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if self.close:
            headers["Connection"] = "close"
        body = to_json({"error": error}, indent=None)
        return Response(body.encode("utf-8", "replace"), self.status, headers, media_type="application/json")


def convert_validation(errors: Sequence[Mapping[str, Any]]) -> ApiProblem:
    """Convert Pydantic's errors, without the values that were sent."""
    found = [_describe(each) for each in errors[:MOST_SHOWN]]
    (what, where, expected), *others = found
    return ApiProblem(422, what, where=where, expected=expected, others=others)


def _describe(error: Mapping[str, Any]) -> tuple[str, str, str]:
    place, kind, context = list(error["loc"]), error["type"], error.get("ctx", {})
    if kind == "json_invalid":
        return f"not JSON: {context.get('error')}", f"body, character {place[-1]}", "a JSON object"
    where = _name_field(place[1:] if place[:1] == ["body"] else place) or "body"
    if kind == "missing":
        return "missing", where, "a JSON object in the body" if where == "body" else "a value"
    if kind in ("model_type", "model_attributes_type"):
        return "not a JSON object", where, "a JSON object"
    if kind == "extra_forbidden":
        return "unknown field", where, "a field that /openapi.json lists"
    if kind == "value_error":
        what, _, expected = str(context.get("error")).partition(" Expected ")
        return what, where, expected
    return "not of the expected kind", where, str(error["msg"])


def _name_field(place: Sequence[str | int]) -> str:
    """Write ("texts", 3) as `texts[3]`; cut long unknown names."""
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"


async def answer_problem(_: Request, error: Exception) -> Response:
    """Answer a problem that our own code found."""
    assert isinstance(error, ApiProblem)
    return error.to_response()


async def answer_validation(_: Request, error: Exception) -> Response:
    """Answer a body of the wrong form."""
    assert isinstance(error, RequestValidationError)
    return convert_validation(error.errors()).to_response()


async def answer_http(request: Request, error: Exception) -> Response:
    """Answer what the framework refuses: unknown addresses, methods, unreadable bodies."""
    assert isinstance(error, HTTPException)
    what, expected = IN_PLAIN_WORDS.get(
        error.status_code, ("the request cannot be answered", "another request")
    )
    where = "body" if error.status_code == 400 else f"{request.method} (address)"
    return ApiProblem(error.status_code, what, where=where, expected=expected).to_response()
