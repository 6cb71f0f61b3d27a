"""Audit: suspected shortcuts, which a person confirms or rejects."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from rationalize.studio._shell import get_studio, make_json, require_person, show_page

router = APIRouter(include_in_schema=False)


class VerdictCall(BaseModel):
    """What a person says about a phrase; open: nothing any more."""

    model_config = ConfigDict(extra="forbid", strict=True)

    phrase: Annotated[str, Field(max_length=5000)]
    verdict: Literal["shortcut", "evidence", "open"]


@router.get("/audit")
def show_audit(request: Request) -> Response:
    """Show what the audit has found."""
    studio = get_studio(request)
    return show_page(request, "audit.html.j2", audit=studio.audit.view(), labeled=bool(studio.pool.labels))


@router.get("/audit/state")
def get_state(request: Request) -> Response:
    """Return how the audit stands."""
    return make_json({"state": get_studio(request).audit.job.state})


@router.post("/audit/start")
def start_audit(request: Request) -> Response:
    """Look for shortcuts."""
    get_studio(request).audit.start()
    return make_json({"state": "running"})


@router.post("/audit/verdict")
def judge(call: VerdictCall, request: Request) -> Response:
    """Keep what a person says about a phrase."""
    get_studio(request).audit.judge(call.phrase, call.verdict, require_person(request))
    return make_json({"verdict": call.verdict})
