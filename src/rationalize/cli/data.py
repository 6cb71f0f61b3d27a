"""`rationalize data …`: get, check, look at, convert and make data sets."""

from __future__ import annotations

import typer

app = typer.Typer(help="Get, check, look at, convert and make data sets.", no_args_is_help=True)
