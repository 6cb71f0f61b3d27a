"""The application: `create_app(settings, models)`, ready for any ASGI server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from anyio import to_thread
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from rationalize.errors import ConfigError
from rationalize.serving import _api_problem, _pages, _routes
from rationalize.serving._doorkeeper import Doorkeeper
from rationalize.serving._envelope import Envelope
from rationalize.serving._intake import Intake
from rationalize.serving._service import Service
from rationalize.serving.serve_settings import ServeSettings
from rationalize.serving.served_model import Loader, load_served_model
from rationalize.version import __version__


def create_app(settings: ServeSettings, models: Mapping[str, Path], *, load: Loader | None = None) -> FastAPI:
    """Make an application that serves the models of some folders, by name.

    Models start loading with the application; until all are loaded it is not ready, but it answers.

    Args:
        settings: Limits, key, device.
        models: Model or run folders by name.
        load: Loads one model; None: as saved, checked against `settings.trust`.
    """
    if not models:
        raise ConfigError("models: none given. Expected at least one model folder.", field="models")
    service = Service(settings, models, load or partial(load_served_model, trust=settings.trust))

    @asynccontextmanager
    async def live(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        await to_thread.run_sync(service.stop)

    app = FastAPI(
        title="rationalize",
        summary="Text classifiers that return a label together with the words that support it.",
        version=__version__,
        lifespan=live,
        # These pages would load scripts from other sites; /openapi.json stays.
        docs_url=None,
        redoc_url=None,
        # The framework could send requests, texts included, to a collector named in the environment.
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
    )
    app.state.service = service
    app.include_router(_routes.router)
    _pages.add_pages(app)
    app.add_exception_handler(_api_problem.ApiProblem, _api_problem.answer_problem)
    app.add_exception_handler(RequestValidationError, _api_problem.answer_validation)
    app.add_exception_handler(HTTPException, _api_problem.answer_http)
    if settings.api_key is not None:
        described = app.openapi()
        described["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"key": []}]
    routes = {route.path for route in _routes.router.routes if isinstance(route, Route)} | {
        "/",
        "/openapi.json",
    }
    # The last one added is the first to see a request.
    app.add_middleware(Intake, limits=settings.limits)
    app.add_middleware(Doorkeeper, settings=settings)
    app.add_middleware(Envelope, metrics=service.metrics, routes=frozenset(routes))
    return app
