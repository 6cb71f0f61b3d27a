"""Run the application until a stop signal, then let open requests finish."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from rationalize.errors import ConfigError
from rationalize.serving._team import run_team
from rationalize.serving.app import create_app
from rationalize.serving.serve_settings import ServeSettings

CONNECTIONS_PER_REQUEST = 4
"""Allowed connections, idle ones included, per allowed open request; the server refuses more."""


def run_service(
    settings: ServeSettings,
    models: Mapping[str, Path],
    announce: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until SIGTERM or SIGINT. `announce` gets the address before models are loaded."""
    if settings.workers == 1:
        run_app(create_app(settings, models), settings, announce)
    else:
        run_team(settings, models, _open_address(settings, announce))


def run_app(
    app: FastAPI,
    settings: ServeSettings,
    announce: Callable[[str], None],
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Run an application in this process until SIGTERM or SIGINT; `stopping` is called at the first of them."""
    serve_on(app, settings, _open_address(settings, announce), stopping)


def _open_address(settings: ServeSettings, announce: Callable[[str], None]) -> socket.socket:
    listener = listen(settings.host, settings.port)
    name = f"[{settings.host}]" if ":" in settings.host else settings.host
    announce(f"http://{name}:{listener.getsockname()[1]}")
    return listener


def serve_on(
    app: FastAPI,
    settings: ServeSettings,
    listener: socket.socket,
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Run an application in this process on an open socket."""
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_config=None,
        access_log=False,  # our own log leaves out texts
        server_header=False,
        proxy_headers=False,
        ws="none",
        limit_concurrency=CONNECTIONS_PER_REQUEST * settings.limits.open_requests,
        timeout_graceful_shutdown=round(settings.limits.request_seconds) + 5,
    )
    # After shutdown, the server raises its stop signal once more; that is not a failure.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    _Server(config, stopping).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Tells about the stop signal: open streams have to end by themselves before the server can."""

    def __init__(self, config: uvicorn.Config, stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._stopping = stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._stopping()
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """Open a socket at an address, or raise ConfigError."""
    try:
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=kind, backlog=512)
    except OSError as error:
        raise ConfigError(
            f"host {host}, port {port}: {error.strerror or error}. Expected a free port (0: any) on this machine.",
            field=("host", "port"),
        ) from None
