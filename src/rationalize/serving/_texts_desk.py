"""Answer calls with texts before the framework's router, which takes longer than a small model takes for a text."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from rationalize.serving._schema import TextsCall
from rationalize.serving.api_problem import IN_PLAIN_WORDS, ApiProblem, convert_validation

Endpoint = Callable[[TextsCall, Request], Awaitable[Response]]


class TextsDesk:
    """Checks the body of a call and hands it to the address's own function.

    The router knows the same functions by the same addresses: it describes them in /openapi.json, and refuses other
    methods.

    Args:
        app: The application inside, for everything else.
        endpoints: What answers a POST, by address.
    """

    def __init__(self, app: ASGIApp, endpoints: Mapping[str, Endpoint]) -> None:
        self._app = app
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        posted = scope["type"] == "http" and scope["method"] == "POST"
        endpoint = self._endpoints.get(scope["path"]) if posted else None
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        try:
            call = parse_call((await receive())["body"])  # all of it: the intake has read it
            answer = await endpoint(call, Request(scope, receive))
        except ApiProblem as problem:
            answer = problem.to_response()
        await answer(scope, receive, send)


def parse_call(body: bytes) -> TextsCall:
    """Read a call from JSON, or say what is wrong with it."""
    try:
        return TextsCall.model_validate(json.loads(body or b"null"))
    except json.JSONDecodeError as error:
        wrong = {"type": "json_invalid", "loc": ("body", error.pos), "ctx": {"error": error.msg}}
        raise convert_validation([wrong]) from None
    except (UnicodeDecodeError, RecursionError):
        what, expected = IN_PLAIN_WORDS[400]
        raise ApiProblem(400, what, where="body", expected=expected) from None
    except ValidationError as error:
        raise convert_validation(error.errors(include_url=False, include_input=False)) from None
