"""The applications with pages: the studio, and the rating of one study."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from rationalize.errors import RationalizeError
from rationalize.ratings.study import Study
from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.app import Living, assemble_app
from rationalize.serving.serve_settings import ServeSettings
from rationalize.serving.served_model import load_served_model
from rationalize.serving.service import Service
from rationalize.studio import (
    _annotate_room,
    _audit_room,
    _entrance,
    _rate_room,
    _shell,
    _train_room,
    _try_room,
)
from rationalize.studio._gate import Gate, Keys
from rationalize.studio._shell import Room, Shell
from rationalize.studio._suggesting import read_in_background
from rationalize.studio.workshop import Studio

ROOMS = (
    Room("/annotate", "Annotate"),
    Room("/try", "Try"),
    Room("/audit", "Audit"),
    Room("/train", "Train"),
    Room("/results", "Results"),
    Room("/people", "People"),
)
RATE = Room("/rate", "Rate")


def create_studio(studio: Studio, key: str) -> FastAPI:
    """Make the application of a studio; `key` opens it to browsers."""

    @asynccontextmanager
    async def live(_: FastAPI) -> AsyncIterator[None]:
        reading = asyncio.create_task(read_in_background(studio))
        yield
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading

    rooms = (*ROOMS, RATE) if studio.study else ROOMS
    routers = [
        _entrance.people_router,
        _annotate_room.router,
        _try_room.router,
        _audit_room.router,
        _train_room.router,
    ]
    routers += [_rate_room.router] if studio.study else []
    app = _put_together(studio.service, Shell(Keys(key), studio.pool.name, rooms), routers, live)
    app.state.studio = studio
    app.state.study = studio.study
    return app


def create_rating_app(study: Study, rater: str, key: str, settings: ServeSettings) -> FastAPI:
    """Make the application in which one person grades one study."""
    shell = Shell(Keys(key), "rating rationales", (RATE,), rater)
    app = _put_together(Service(settings, {}, load_served_model), shell, [_rate_room.router], None)
    app.state.study = study
    return app


def _put_together(service: Service, shell: Shell, routers: list[APIRouter], living: Living | None) -> FastAPI:
    door = Middleware(
        Gate, keys=shell.keys, settings=service.settings, ask_key=partial(_shell.ask_key, shell)
    )
    app = assemble_app(service, door, routers=[_entrance.router, *routers], living=living)
    app.state.shell = shell
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    app.add_exception_handler(_shell.NamelessError, _shell.answer_nameless)
    app.add_exception_handler(RationalizeError, _shell.answer_mistake)
    app.add_exception_handler(ApiProblem, _shell.answer_problem)
    app.add_exception_handler(HTTPException, _shell.answer_http)
    return app
