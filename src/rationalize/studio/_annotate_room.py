"""Annotate: one text at a time, every change saved at once."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from rationalize.data.annotation import FORMATS
from rationalize.serving.api_problem import ApiProblem
from rationalize.studio._decisions import Annotation, AnnotationState, Suggestion
from rationalize.studio._queue_order import TITLES, Ordering
from rationalize.studio._shell import get_studio, make_json, require_person, show_page
from rationalize.studio._suggesting import read_texts
from rationalize.studio.studio_export import (
    ONE_FILE,
    check_annotators,
    merge_annotations,
    name_tool_file,
    to_export_line,
)
from rationalize.studio.studio_store import ChangedElsewhereError
from rationalize.studio.workshop import Studio
from rationalize.types import Example, Span

router = APIRouter(include_in_schema=False)


class AnnotationCall(BaseModel):
    """A text's words, label and note, as the page has them now."""

    model_config = ConfigDict(extra="forbid", strict=True)

    words: Annotated[list[int], Field(max_length=200_000)]
    label: str | None
    note: Annotated[str, Field(max_length=5000)]
    state: AnnotationState
    change: Annotated[int, Field(ge=0)]


class OrderingCall(BaseModel):
    """The order that a person wants."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ordering: Ordering


@dataclass(frozen=True, slots=True)
class WordView:
    """A word of the page, with what stands before it."""

    before: str
    text: str
    marked: bool
    gold: bool


@router.get("/annotate")
def go_to_next(request: Request) -> Response:
    """Go to the text that helps most."""
    person = require_person(request)
    number = get_studio(request).find_next(person)
    return RedirectResponse(f"/annotate/{number}" if number else "/annotate/end", 303)


@router.get("/annotate/end")
def show_end(request: Request) -> Response:
    """Say that everything is done."""
    studio, person = get_studio(request), require_person(request)
    return show_page(request, "annotate_end.html.j2", counts=_count(studio, person), total=len(studio.pool))


@router.get("/annotate/{number}")
def show_text(number: int, request: Request) -> Response:
    """Show a text with what the person has marked so far."""
    studio, person = get_studio(request), require_person(request)
    example = _get_example(studio, number)
    found = studio.store.read_one(person, number) or Annotation(number, person, "open", (), example.label)
    suggestion = studio.read_suggestion(number)
    words, rest = cut_words(studio, number, found.spans)
    return show_page(
        request,
        "annotate.html.j2",
        number=number,
        example=example,
        found=found,
        words=words,
        rest=rest,
        labels=studio.pool.labels,
        suggestion=_describe(studio, suggestion) if suggestion else None,
        suggesting=studio.suggesting,
        ordering=studio.get_ordering(person),
        orderings=TITLES,
        counts=_count(studio, person),
        total=len(studio.pool),
    )


@router.get("/annotate/{number}/suggestion")
async def suggest(number: int, request: Request) -> Response:
    """Return what the model would mark; it reads the text now, if it has not."""
    studio = get_studio(request)
    _get_example(studio, number)
    model = studio.suggesting
    worker = studio.service.workers.get(model or "")
    if model is None or worker is None or worker.state == "failed":
        return make_json({"state": "none"})
    if worker.state == "loading":
        return make_json({"state": "loading"})
    if studio.read_suggestion(number) is None:
        await read_texts(studio, model, [number])
    found = studio.read_suggestion(number)
    return make_json({"state": "ready", **_describe(studio, found)} if found else {"state": "none"})


@router.post("/annotate/undo")
def undo(request: Request) -> Response:
    """Take back the person's last change, whichever text it was about."""
    number = get_studio(request).store.undo(require_person(request))
    return make_json({"number": number})


@router.post("/annotate/ordering")
def choose_ordering(call: OrderingCall, request: Request) -> Response:
    """Keep the order that a person wants; return the text that comes first in it."""
    studio, person = get_studio(request), require_person(request)
    studio.store.add_person(person, call.ordering)
    return make_json({"number": studio.find_next(person)})


@router.post("/annotate/{number}")
def save(number: int, call: AnnotationCall, request: Request) -> Response:
    """Save a text's state; it is on disk before this is answered."""
    studio, person = get_studio(request), require_person(request)
    _get_example(studio, number)
    if call.label is not None and call.label not in studio.pool.labels:
        raise ApiProblem(
            422, "not a label of these data", where="label", expected=", ".join(studio.pool.labels) or "none"
        )
    spans = studio.pool.to_spans(number, call.words)
    given = Annotation(number, person, call.state, spans, call.label, call.note, call.change)
    try:
        saved = studio.store.save(given)
    except ChangedElsewhereError:
        raise ApiProblem(
            409, "this text was changed in another window", where="change", expected="a reloaded page"
        ) from None
    following = studio.find_next(person, after=number) if call.state != "open" else number
    counts = _count(studio, person)
    return make_json({"change": saved.change, "next": following, "done": counts["done"]})


@router.get("/export.jsonl")
def export(
    request: Request, annotators: Annotated[str, Query(max_length=200)] = "majority"
) -> StreamingResponse:
    """Return everything that is done, as JSON Lines; offsets in code points."""
    studio = get_studio(request)
    check_annotators(annotators, studio.store.read_people())
    given = studio.store.read_all()

    def write() -> Iterator[bytes]:
        for found in merge_annotations(studio.pool, given, annotators):
            yield to_export_line(found).encode("utf-8", "replace")

    name = "attachment; filename=annotations.jsonl"
    return StreamingResponse(
        write(), media_type="application/x-ndjson", headers={"Content-Disposition": name}
    )


@router.get("/export/{tool}")
def export_for_tool(
    tool: str, request: Request, annotators: Annotated[str, Query(max_length=200)] = "majority"
) -> Response:
    """Return everything that is done as a file that an annotation tool imports."""
    studio = get_studio(request)
    check_annotators(annotators, studio.store.read_people())
    if tool not in ONE_FILE:
        raise ApiProblem(404, "no such format", where="address", expected=", ".join(ONE_FILE))
    found = merge_annotations(studio.pool, studio.store.read_all(), annotators)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name_tool_file(tool)
        FORMATS[tool].write(path, (each.example for each in found))
        content = path.read_bytes()
    name = f"attachment; filename={path.name}"
    return Response(content, media_type="application/json", headers={"Content-Disposition": name})


def cut_words(studio: Studio, number: int, spans: tuple[Span, ...]) -> tuple[list[WordView], str]:
    """Cut a text into its words and what stands between them; also return what stands after the last."""
    pool, text = studio.pool, studio.pool[number].text
    gold = pool.mark_words(number, pool[number].rationale or ())
    marked, views, end = pool.mark_words(number, spans), [], 0
    for index, word in enumerate(pool.find_words(number)):
        views.append(
            WordView(text[end : word.start], text[word.start : word.end], marked[index], gold[index])
        )
        end = word.end
    return views, text[end:]


def _describe(studio: Studio, found: Suggestion) -> dict[str, object]:
    mask = studio.pool.mark_words(found.number, found.spans)
    return {
        "label": found.label,
        "probability": found.probabilities.get(found.label),
        "review": found.review,
        "words": [index for index, chosen in enumerate(mask) if chosen],
    }


def _get_example(studio: Studio, number: int) -> Example:
    if not 1 <= number <= len(studio.pool):
        raise ApiProblem(404, "no such text", where="address", expected=f"1 to {len(studio.pool)}")
    return studio.pool[number]


def _count(studio: Studio, person: str) -> Counter[str]:
    return Counter(each.state for each in studio.store.read_all(person))
