"""Train and Results: runs on what is annotated so far, and how they compare."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from rationalize.evaluation.label_suspects import LabelSuspect, suspect_label
from rationalize.files import json_line, to_json
from rationalize.methods.registry import list_methods
from rationalize.printable import make_printable
from rationalize.reporting.plots import draw_training
from rationalize.reporting.report import Report, render_report
from rationalize.reporting.result_table import metric_table, warnings_of
from rationalize.reporting.wording import format_dev_scores
from rationalize.serving.api_problem import ApiProblem
from rationalize.studio._shell import get_studio, make_json, show_page
from rationalize.studio._training_runs import LEAST_SHARE, RunView, TrainChoice
from rationalize.studio.workshop import Studio

router = APIRouter(include_in_schema=False)

PRESETS = ("auto", "small", "planted", "paper")
EVERY_S = 1.0
SHOWN_LINES = 12
SHOWN_SUSPECTS = 10


@router.get("/train")
def show_train(request: Request) -> Response:
    """Show the form and the runs so far."""
    studio = get_studio(request)
    given = [each for each in studio.store.read_all() if each.state == "done"]
    texts = len({each.number for each in given})
    share = min(0.95, max(LEAST_SHARE, math.ceil(20 * texts / len(studio.pool)) / 20))
    return show_page(
        request,
        "train.html.j2",
        runs=[studio.runs.view(name) for name in reversed(studio.runs.names)],
        methods=list_methods(),
        presets=PRESETS,
        chosen=studio.store.read_fact("preset") or PRESETS[0],
        annotated=texts,
        total=len(studio.pool),
        own_gold=sum(bool(example.rationale) for example in studio.pool.examples),
        shortcuts=sum(each.verdict == "shortcut" for each in studio.store.read_verdicts().values()),
        share=share,
        suggesting=studio.suggesting,
    )


@router.post("/train/start")
def start_run(choice: TrainChoice, request: Request) -> Response:
    """Start a run."""
    studio = get_studio(request)
    name = studio.runs.start(choice)
    studio.store.save_fact("preset", choice.preset)
    return make_json({"name": name})


@router.post("/train/{name}/stop")
def stop_run(name: str, request: Request) -> Response:
    """Stop a run; it can be resumed."""
    studio = get_studio(request)
    _check_name(studio, name)
    studio.runs.job(name).stop()
    return make_json(describe_run(studio.runs.view(name)))


@router.post("/train/{name}/resume")
def resume_run(name: str, request: Request) -> Response:
    """Continue a stopped run."""
    studio = get_studio(request)
    _check_name(studio, name)
    studio.runs.resume(name)
    return make_json({"name": name})


@router.get("/train/{name}/events")
async def watch_run(name: str, request: Request) -> StreamingResponse:
    """Send how a run stands, every second, until it does not run any more."""
    studio = get_studio(request)
    _check_name(studio, name)

    async def send() -> AsyncIterator[bytes]:
        while not studio.stopping.is_set():
            row = describe_run(await asyncio.to_thread(studio.runs.view, name))
            if row["state"] == "finished":
                await asyncio.to_thread(studio.adopt_finished)
            yield f"data: {to_json(row, indent=None)}\n\n".encode()
            if row["state"] != "running":
                return
            await asyncio.sleep(EVERY_S)

    return StreamingResponse(send(), media_type="text/event-stream")


@router.get("/results")
def show_results(request: Request) -> Response:
    """Show the finished runs side by side."""
    studio = get_studio(request)
    views = {name: studio.runs.view(name) for name in studio.runs.finished}
    results = {_title(view): view.results for view in views.values() if view.results}
    return show_page(
        request,
        "results.html.j2",
        views=views,
        table=metric_table(results, title="Dev") if results else None,
        warnings=warnings_of(results) if results else [],
        charts=draw_training({_title(view): studio.runs.read_curves(name) for name, view in views.items()}),
        suggesting=studio.suggesting,
        suspects=_find_suspects(studio)[:SHOWN_SUSPECTS],
    )


@router.get("/results/label-suspects.jsonl")
def export_suspects(request: Request) -> Response:
    """Return all texts whose label the suggesting model contradicts, the surest first."""
    lines = [json_line(suspect.to_dict()) for _, suspect in _find_suspects(get_studio(request))]
    headers = {"Content-Disposition": "attachment; filename=label-suspects.jsonl"}
    body = "".join(lines).encode("utf-8", "replace")
    return Response(body, media_type="application/x-ndjson", headers=headers)


@router.get("/results/report.html")
def get_report(request: Request) -> Response:
    """Return the comparison as one file, to be kept."""
    studio = get_studio(request)
    views = {name: studio.runs.view(name) for name in studio.runs.finished}
    report = Report(
        title=f"Runs on {studio.pool.name}",
        summary="Runs of the studio, on what was annotated when each was started.",
        results={_title(view): {"dev": view.results} for view in views.values() if view.results},
        curves={_title(view): studio.runs.read_curves(name) for name, view in views.items()},
    )
    headers = {"Content-Disposition": "attachment; filename=report.html"}
    return Response(render_report(report).encode("utf-8", "replace"), media_type="text/html", headers=headers)


def describe_run(view: RunView) -> dict[str, object]:
    """Return how a run stands, for the page's script."""
    return {
        "state": view.state,
        "epoch": view.epoch,
        "epochs": view.epochs,
        "step": view.step,
        "dev": format_dev_scores(view.dev) if view.dev else "",
        "log": "\n".join(make_printable(view.log).splitlines()[-SHOWN_LINES:]),
    }


def _find_suspects(studio: Studio) -> list[tuple[int, LabelSuspect]]:
    """Find labels that are probably wrong, each with the number of its text."""
    if not studio.suggesting:
        return []
    found = (
        (number, suspect_label(studio.pool[number], each.probabilities, each.spans, each.review))
        for number, each in studio.store.read_suggestions(studio.suggesting).items()
    )
    return sorted(((n, each) for n, each in found if each), key=lambda pair: (pair[1].rank, pair[0]))


def _title(view: RunView) -> str:
    return f"{view.name}: {view.method}"


def _check_name(studio: Studio, name: str) -> None:
    if name not in studio.runs.names:
        raise ApiProblem(
            404, "no such run", where="address", expected=", ".join(studio.runs.names) or "none yet"
        )
