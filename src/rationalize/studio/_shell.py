"""What all pages share: templates, rooms, the strict policy, and who is looking."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException

from rationalize.errors import ConfigError, RationalizeError
from rationalize.files import to_json
from rationalize.printable import make_json_printable, make_visible, to_one_line
from rationalize.ratings.rating_store import check_person_name
from rationalize.reporting.wording import format_percent
from rationalize.serving.api_problem import IN_PLAIN_WORDS, ApiProblem
from rationalize.studio._gate import COOKIE_S, Keys
from rationalize.studio.workshop import Studio
from rationalize.version import __version__

HERE = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Room:
    """A room of the page."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Shell:
    """The frame around every page.

    Attributes:
        keys: What opens the pages.
        title: Of the whole.
        rooms: The rooms that there are.
        person: The one person whose pages these are; None: whoever gives a name.
    """

    keys: Keys
    title: str
    rooms: Sequence[Room]
    person: str | None = None


class NamelessError(Exception):
    """Somebody has to give their name first."""


@cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "one_line": to_one_line,
        "printable": make_visible,
        "percent": format_percent,
        "exact": write_exactly,
    }
    return environment


def write_exactly(text: str) -> str:
    """Write text as JSON, for an attribute that a script reads: browsers change line ends and NUL in plain text."""
    return make_json_printable(json.dumps(text, ensure_ascii=False))


def get_shell(request: Request) -> Shell:
    """Return the frame of the application."""
    shell: Shell = request.app.state.shell
    return shell


def get_studio(request: Request) -> Studio:
    """Return the studio of the application."""
    studio: Studio = request.app.state.studio
    return studio


def get_person(request: Request) -> str | None:
    """Return the name that the person at the browser has given."""
    shell = get_shell(request)
    if shell.person is not None:
        return shell.person
    given = unquote(request.cookies.get(shell.keys.person_cookie, ""))
    try:
        return check_person_name(given)
    except ConfigError:
        return None


def require_person(request: Request) -> str:
    """Return the person's name, or send them to give it."""
    person = get_person(request)
    if person is None:
        raise NamelessError
    return person


def remember_person(response: Response, request: Request, name: str) -> None:
    """Keep a checked name in the browser."""
    cookie = get_shell(request).keys.person_cookie
    response.set_cookie(cookie, quote(name), max_age=COOKIE_S, httponly=True, samesite="lax")


def show_page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Render a page of a room."""
    shell = get_shell(request)
    return render_page(shell, template, get_person(request), request.url.path, status, **values)


def render_page(
    shell: Shell, template: str, person: str | None, path: str, status: int = 200, **values: Any
) -> Response:
    """Render a page, everything escaped."""
    text = (
        _make_environment()
        .get_template(template)
        .render(shell=shell, person=person, path=path, version=__version__, **values)
    )
    return HTMLResponse(text.encode("utf-8", "replace"), status, headers={"Content-Security-Policy": POLICY})


def make_json(value: object) -> Response:
    """Answer a script."""
    return Response(to_json(value, indent=None), media_type="application/json")


def ask_key(shell: Shell, request: Request) -> Response:
    """Make the page that asks for the key."""
    return render_page(shell, "enter.html.j2", None, request.url.path, 401)


async def answer_nameless(request: Request, _: Exception) -> Response:
    """Send a person to give their name; tell a script so."""
    if request.method == "GET" and _wants_page(request):
        return RedirectResponse(f"/hello?then={quote(request.url.path)}", 303)
    return ApiProblem(
        403, "nobody has given a name", where="cookie", expected="a name, given at /hello"
    ).to_response()


async def answer_mistake(request: Request, error: Exception) -> Response:
    """Answer what the user can mend."""
    assert isinstance(error, RationalizeError)
    where = ", ".join(error.fields) or "request"
    problem = ApiProblem(422, str(error), where=where, expected="another choice")
    return _show_problem(request, problem)


async def answer_problem(request: Request, error: Exception) -> Response:
    """Answer a problem as a page where a person looks, else as JSON."""
    assert isinstance(error, ApiProblem)
    return _show_problem(request, error)


async def answer_http(request: Request, error: Exception) -> Response:
    """Answer what the framework refuses."""
    assert isinstance(error, HTTPException)
    fallback = ("the request cannot be answered", "another request")
    what, expected = IN_PLAIN_WORDS.get(error.status_code, fallback)
    return _show_problem(
        request, ApiProblem(error.status_code, what, where=f"{request.method} (address)", expected=expected)
    )


def _show_problem(request: Request, problem: ApiProblem) -> Response:
    if request.method == "GET" and _wants_page(request):
        return show_page(request, "problem.html.j2", problem.status, problem=problem)
    return problem.to_response()


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")
