"""The addresses of the service."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from rationalize.files import to_json
from rationalize.serving._schema import ErrorAnswer, ExplainAnswer, ModelsAnswer, PredictAnswer, TextsCall
from rationalize.serving.api_key import is_authorized
from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.service import Service
from rationalize.serving.text_queue import ModelQuestion
from rationalize.serving.ticket import UnreadText
from rationalize.version import __version__

REFUSALS = {
    401: "no API key, or a wrong one",
    404: "no such model",
    408: "the body took too long to arrive",
    413: "the body is too large",
    415: "the body is not JSON",
    422: "the body does not have the right form, or a text or the number of texts is above a limit",
    429: "too many texts are waiting",
    503: "the model is not ready, or too many requests are open",
    504: "no answer in time",
}
REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": reason} for status, reason in REFUSALS.items()
}

router = APIRouter()


def get_service(request: Request) -> Service:
    """Return the application's service."""
    service: Service = request.app.state.service
    return service


@router.post("/v1/explain", response_model=ExplainAnswer, responses=REFUSED, tags=["texts"])
async def explain(call: TextsCall, request: Request) -> Response:
    """Return a label and the words that support it, for one text or several."""
    return await _answer(call, request, ModelQuestion("explain", call.truncate), "explanations")


@router.post("/v1/predict", response_model=PredictAnswer, responses=REFUSED, tags=["texts"])
async def predict(call: TextsCall, request: Request) -> Response:
    """Return label and probabilities only, which may cost less."""
    return await _answer(call, request, ModelQuestion("predict", call.truncate), "predictions")


TAKING_TEXTS = {"/v1/explain": explain, "/v1/predict": predict}
"""Answered before the router is asked."""


@router.get("/v1/models", response_model=ModelsAnswer, responses={401: REFUSED[401]}, tags=["service"])
async def models(request: Request) -> Response:
    """List the models, and the limits of a request."""
    service = get_service(request)
    answer = ModelsAnswer(
        version=__version__, models=service.describe_models(), limits=service.settings.limits
    )
    return _make_json(answer.model_dump_json(exclude_none=False))


@router.get("/healthz", tags=["service"])
async def healthz() -> Response:
    """Check that the process answers. Needs no key."""
    return _make_json('{"status":"ok"}')


@router.get("/readyz", tags=["service"])
async def readyz(request: Request) -> Response:
    """Check whether every model answers (200) or not (503). Needs no key; the reason is shown only with it."""
    service = get_service(request)
    key = service.settings.api_key
    answer: dict[str, Any] = {"ready": service.ready}
    if key is None or is_authorized(key, request.headers.get("authorization", "").encode("latin-1")):
        answer["models"] = {
            name: {"state": worker.state, "why": worker.why} for name, worker in service.workers.items()
        }
    return _make_json(to_json(answer, indent=None), 200 if service.ready else 503)


@router.get("/metrics", tags=["service"])
async def metrics(request: Request) -> Response:
    """Return counters and times, for Prometheus."""
    found = get_service(request).metrics
    return Response(found.render(), media_type=found.content_type)


async def _answer(call: TextsCall, request: Request, question: ModelQuestion, name: str) -> Response:
    service = get_service(request)
    worker = service.pick(call.model)
    examples = call.to_examples(service.settings.limits)

    async def hung_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    answers: list[bytes] = []
    for index, answer in enumerate(await worker.ask(question, examples, hung_up)):
        if isinstance(answer, UnreadText):
            raise ApiProblem(
                500,
                f"the model could not read the text ({answer.reason})",
                where="text" if call.text is not None else f"texts[{index}]",
                expected="a text that it can read; the log shows where it failed",
            )
        answers.append(answer)
    # The answers are JSON already: the worker thread made it, not the event loop.
    whole = b'{"model": %b, "%b": [%b]}' % (worker.quoted_name, name.encode(), b", ".join(answers))
    return _make_json(whole)


def _make_json(content: str | bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="application/json")
