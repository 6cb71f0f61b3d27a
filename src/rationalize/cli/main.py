"""The `rationalize` command: collects the verbs, turns user mistakes into short messages with exit code 2."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rationalize.cli import (
    augment,
    compare,
    data,
    demo,
    evaluate,
    explain,
    methods,
    rate,
    serve,
    shortcuts,
    train,
)
from rationalize.errors import RationalizeError
from rationalize.version import __version__

app = typer.Typer(
    name="rationalize",
    help="Text classifiers that return a label together with the words that support it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.add_typer(data.app, name="data")
app.command("methods")(methods.methods)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("explain")(explain.explain)
app.command("serve")(serve.serve)
app.add_typer(shortcuts.app, name="shortcuts")
app.command("augment")(augment.augment)
app.add_typer(rate.app, name="rate")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    try:
        app()
    except RationalizeError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
