"""The application: `create_app(settings, models)`, ready for any ASGI server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from anyio import to_thread
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from rationalize.errors import ConfigError
from rationalize.serving import _pages, _routes, api_problem
from rationalize.serving._attendance import Attendance
from rationalize.serving._envelope import Envelope
from rationalize.serving._intake import Intake
from rationalize.serving._texts_desk import TextsDesk
from rationalize.serving.doorkeeper import Doorkeeper
from rationalize.serving.serve_settings import ServeSettings
from rationalize.serving.served_model import Loader, load_served_model
from rationalize.serving.service import Service
from rationalize.version import __version__

Living = Callable[[FastAPI], AbstractAsyncContextManager[None]]
"""What runs beside the requests, from start to end."""


def create_app(
    settings: ServeSettings,
    models: Mapping[str, Path],
    *,
    load: Loader | None = None,
    attendance: Attendance | None = None,
) -> FastAPI:
    """Make an application that serves the models of some folders, by name.

    Models start loading with the application; until all are loaded it is not ready, but it answers.

    Args:
        settings: Limits, key, device.
        models: Model or run folders by name.
        load: Loads one model; None: as saved, checked against `settings.trust`.
        attendance: This process among others that serve with it; None: it is the only one.
    """
    if not models:
        raise ConfigError("models: none given. Expected at least one model folder.", field="models")
    service = Service(settings, models, load or _make_loader(settings), attendance)
    app = assemble_app(service, Middleware(Doorkeeper, settings=settings), routes=frozenset({"/"}))
    _pages.add_pages(app)
    if settings.api_key is not None:
        described = app.openapi()
        described["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"key": []}]
    return app


def assemble_app(
    service: Service,
    door: Middleware,
    *,
    routers: Sequence[APIRouter] = (),
    routes: frozenset[str] = frozenset(),
    living: Living | None = None,
) -> FastAPI:
    """Put an application together: the service's addresses, others beside them, and the layers around them.

    Args:
        service: The models.
        door: Decides who is let in.
        routers: More addresses.
        routes: Addresses without parameters that are counted and logged by name, besides those of the routers.
        living: Runs beside the requests.
    """

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            service.start()
            stack.push_async_callback(to_thread.run_sync, service.stop)
            if living is not None:
                await stack.enter_async_context(living(app))
            yield

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
    for router in (_routes.router, *routers):
        app.include_router(router)
        routes |= {route.path for route in router.routes if isinstance(route, Route)}
    app.add_exception_handler(api_problem.ApiProblem, api_problem.answer_problem)
    app.add_exception_handler(RequestValidationError, api_problem.answer_validation)
    app.add_exception_handler(HTTPException, api_problem.answer_http)
    # The last one added is the first to see a request.
    app.add_middleware(TextsDesk, endpoints=_routes.TAKING_TEXTS)
    app.add_middleware(Intake, limits=service.settings.limits)
    app.add_middleware(door.cls, *door.args, **door.kwargs)
    app.add_middleware(Envelope, metrics=service.metrics, routes=routes | {"/openapi.json"})
    return app


def _make_loader(settings: ServeSettings) -> Loader:
    return partial(
        load_served_model,
        trust=settings.trust,
        min_confidence=settings.min_confidence,
        precision=settings.precision,
    )
