"""Rate: grade rationales of a study, one at a time, without knowing whose they are."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, ConfigDict

from rationalize.ratings.rating_store import RatingStore
from rationalize.ratings.session import Session, View
from rationalize.ratings.study import Study
from rationalize.reporting.layers import Layer, cut_segments
from rationalize.reporting.marks import to_html
from rationalize.serving.api_problem import ApiProblem
from rationalize.studio._shell import make_json, require_person, show_page

router = APIRouter(include_in_schema=False)


class GradeCall(BaseModel):
    """One grade; the session checks it."""

    model_config = ConfigDict(extra="forbid")

    item: Any = None
    question: Any = None
    grade: Any = None


def get_session(request: Request) -> Session:
    """Return the session of the person at the browser."""
    study: Study = request.app.state.study
    return Session(study, RatingStore(study), require_person(request))


@router.get("/rate")
def go_to_open(request: Request) -> Response:
    """Go to the first item that is not done."""
    first = get_session(request).view().first_open
    return RedirectResponse(f"/rate/{first}" if first else "/rate/end", 303)


@router.get("/rate/end")
def show_rate_end(request: Request) -> Response:
    """Show what is left."""
    return _show(request, get_session(request).view())


@router.get("/rate/{place}")
def show_item(place: int, request: Request) -> Response:
    """Show an item with the grades so far."""
    view = get_session(request).view(place)
    if view.item is None:
        raise ApiProblem(404, "no such item", where="address", expected=f"1 to {view.total}")
    return _show(request, view)


@router.post("/rate")
def grade(call: GradeCall, request: Request) -> Response:
    """Save one grade; it is on disk before this is answered."""
    return make_json({"done": get_session(request).save(call.item, call.question, call.grade)})


def _show(request: Request, view: View) -> Response:
    item = view.item
    return show_page(
        request,
        "rate.html.j2",
        view=view,
        guide=view.study.info.guide,
        text=to_html(cut_segments(item.text, {Layer.SELECTED: item.marked})) if item else "",
        left=view.total - view.done,
    )
