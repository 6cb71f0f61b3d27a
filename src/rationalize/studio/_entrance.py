"""The entrance: the key, the person's name, and the people who are there."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from rationalize.data.annotation import FORMATS
from rationalize.ratings.rating_store import check_person_name
from rationalize.serving.api_problem import ApiProblem
from rationalize.studio._gate import ENTRANCE
from rationalize.studio._people_agreement import compare_people
from rationalize.studio._queue_order import ORDERINGS, TITLES
from rationalize.studio._shell import get_shell, get_studio, make_json, remember_person, show_page
from rationalize.studio.studio_export import ONE_FILE

router = APIRouter(include_in_schema=False)
people_router = APIRouter(include_in_schema=False)


class KeyCall(BaseModel):
    """The key, as somebody typed it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: Annotated[str, Field(max_length=1000)]


class NameCall(BaseModel):
    """A person's name."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(max_length=200)]


@router.get("/")
def go_home(request: Request) -> Response:
    """Open the first room."""
    return RedirectResponse(get_shell(request).rooms[0].path, 303)


@router.get(ENTRANCE)
def show_entrance(request: Request) -> Response:
    """Ask for the key."""
    return show_page(request, "enter.html.j2")


@router.post(ENTRANCE)
def enter(call: KeyCall, request: Request) -> Response:
    """Let a browser in that has the key."""
    keys = get_shell(request).keys
    if not keys.is_key(call.key.strip()):
        raise ApiProblem(401, "not the key", where="key", expected="the key that the terminal shows")
    return keys.let_in(make_json({"then": "/"}))


@people_router.get("/hello")
def show_hello(request: Request, then: str = "/annotate") -> Response:
    """Ask for a name."""
    studio = get_studio(request)
    inside = then if then.startswith("/") and not then.startswith(("//", "/\\")) else "/"
    return show_page(request, "hello.html.j2", known=list(studio.store.read_people()), then=inside)


@people_router.post("/hello")
def say_hello(call: NameCall, request: Request) -> Response:
    """Remember a name."""
    store = get_studio(request).store
    name = check_person_name(call.name.strip())
    store.add_person(name, store.read_people().get(name, ORDERINGS[0]))
    response = make_json({"name": name})
    remember_person(response, request, name)
    return response


@people_router.get("/people")
def show_people(request: Request) -> Response:
    """Show who has done how much, and how far they agree."""
    studio = get_studio(request)
    given = studio.store.read_all()
    people = studio.store.read_people()
    counts = {
        name: {
            state: sum(each.person == name and each.state == state for each in given)
            for state in ("done", "skipped", "open")
        }
        for name in people
    }
    done = len({each.number for each in given if each.state == "done"})
    return show_page(
        request,
        "people.html.j2",
        counts=counts,
        orderings={name: TITLES[studio.get_ordering(name)] for name in people},
        agreement=compare_people(studio.pool, given),
        tools={name: FORMATS[name].title for name in ONE_FILE},
        done=done,
        total=len(studio.pool),
    )
