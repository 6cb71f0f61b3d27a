"""Pages for people: which models are served, and how to call them. No script, nothing from other sites."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from rationalize.serving._routes import get_service
from rationalize.version import __version__

HERE = Path(__file__).parent
PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

templates = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


def add_pages(app: FastAPI) -> None:
    """Add the home page, and the static files that pages use."""
    app.add_api_route("/", show_home, methods=["GET"], include_in_schema=False)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")


async def show_home(request: Request) -> Response:
    """Show the models, their state, and how to call them."""
    service = get_service(request)
    page = templates.get_template("home.html.j2").render(
        version=__version__,
        models=service.describe_models(),
        limits=service.settings.limits.model_dump(),
        address=str(request.base_url),
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": PAGE_POLICY})
