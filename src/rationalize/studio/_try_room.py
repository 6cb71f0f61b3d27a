"""Try: a text of one's own, read by one model or by two."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from rationalize.studio._shell import get_studio, make_json, show_page

router = APIRouter(include_in_schema=False)

SHOWN = 5


@router.get("/try")
def show_try(request: Request) -> Response:
    """Show the room; its script asks /v1/explain."""
    studio = get_studio(request)
    examples = [studio.pool[number] for number in studio.order("random")[:SHOWN]]
    with_query = any(example.query for example in studio.pool.examples)
    return show_page(
        request,
        "try.html.j2",
        models=studio.list_models(),
        suggesting=studio.suggesting,
        examples=examples,
        with_query=with_query,
        limit=studio.settings.limits.text_chars,
    )


@router.post("/models/{name}/load")
def load_model(name: str, request: Request) -> Response:
    """Load the model of a run; return its state."""
    studio = get_studio(request)
    if name in studio.runs.finished:
        studio.service.add(name, studio.runs.run_folder(name))
    return make_json({"state": studio.service.pick(name).state})


@router.post("/models/{name}/use")
def use_model(name: str, request: Request) -> Response:
    """Show a model's suggestions from now on."""
    get_studio(request).use_model(name)
    return make_json({"name": name})
