"""Pages for people: what is served here, and how it is called. No script, nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from rationalize.serving._routes import service_of
from rationalize.version import __version__

HERE = Path(__file__).parent
PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

templates = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


def add_pages(app: FastAPI) -> None:
    """The first page, and the static files that pages use."""
    app.add_api_route("/", show_home, methods=["GET"], include_in_schema=False)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")


async def show_home(request: Request) -> Response:
    """Which models there are, in what state, and how to ask them."""
    service = service_of(request)
    page = templates.get_template("home.html.j2").render(
        version=__version__,
        models=service.describe_models(),
        limits=service.settings.limits.model_dump(),
        address=str(request.base_url),
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": PAGE_POLICY})
