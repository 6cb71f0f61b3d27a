"""The `rationalize` command: all verbs; user mistakes become short messages with exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from rationalize.cli import (
    augment,
    compare,
    data,
    demo,
    distill,
    encoders,
    evaluate,
    explain,
    export,
    methods,
    rate,
    serve,
    shortcuts,
    studio,
    train,
    tune,
)
from rationalize.errors import ConfigError, RationalizeError, describe_os_error
from rationalize.interrupts import Interrupted, raise_when_terminated
from rationalize.processes import read_launch
from rationalize.reporting.terminal import echo
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
app.add_typer(encoders.app, name="encoders")
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("tune")(tune.tune)
app.command("explain")(explain.explain)
app.command("distill")(distill.distill)
app.command("export")(export.export)
app.command("serve")(serve.serve)
app.command("studio")(studio.studio)
app.add_typer(shortcuts.app, name="shortcuts")
app.command("augment")(augment.augment)
app.add_typer(rate.app, name="rate")


def _show_version(wanted: bool) -> None:
    if wanted:
        echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    refuse_launcher(context.invoked_subcommand)


def refuse_launcher(verb: str | None) -> None:
    """Refuse to do in several processes what is done in one."""
    launch = read_launch()
    if launch is not None and verb != "train":
        raise ConfigError(
            f"{verb}: a launcher started {launch.size} processes, but only train works in several. Start it plainly."
        )


FLAGS = {
    "data.path": "--data",
    "data.limit": "--limit",
    "data.gold_share": "--gold-share",
    **{f"data.fields.{name}": f"--{name}-field" for name in ("text", "label", "id", "query", "rationale")},
    **{
        f"data.{name}": f"--{name.replace('_', '-')}"
        for name in ("words", "partial_words", "annotators", "read_as")
    },
    "data.drop_unlabeled": "--drop-unlabeled",
    "encoder.name": "--encoder",
    "encoder.max_tokens": "--max-tokens",
    "training.epochs": "--epochs",
    "training.report_to": "--report-to",
    "methods": "--method",
    "models": "--model",
    "seeds": "--seed",
    "gold_shares": "--gold-share",
    "augment_shares": "--augment-share",
    "limits.total_bytes": "--max-gib",
    "limits.members": "--max-members",
    "patience.deadline_s": "--deadline-s",
    "api_key": "--api-key-file",
    "limits.call_texts": "--limit",
    "limits.queue_texts": "--limit",
}
"""Fields in errors, and their options where these are not simply `--field-name`."""


def main() -> None:
    """Run the command line."""
    try:
        with raise_when_terminated():
            app()
    except RationalizeError as error:
        flags = ", ".join(find_flags(error, sys.argv[1:]))
        echo(f"error: {error}" + (f" (on the command line: {flags})" if flags else ""), err=True)
        sys.exit(2)
    except OSError as error:
        echo(f"error: {describe_os_error(error)}", err=True)
        sys.exit(2)
    except SystemExit as stop:
        interrupt = _find_interrupt(stop)
        if interrupt is None:
            raise
        echo(str(interrupt) or "interrupted", err=True)
        sys.exit(interrupt.exit_code if isinstance(interrupt, Interrupted) else 130)


def _find_interrupt(stop: SystemExit) -> KeyboardInterrupt | None:
    """Find the interrupt that typer turned into an exit."""
    seen: BaseException | None = stop
    while seen is not None and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__cause__ or seen.__context__
    return seen if stop.code == 130 else None


def find_flags(error: RationalizeError, words: Sequence[str]) -> list[str]:
    """Find the command-line options of an error's fields; fields without an option are left out."""
    from rationalize.config import RunConfig

    verb = typer.main.get_command(app)
    for word in words:
        verb = getattr(verb, "commands", {}).get(word, verb)
    options = {name: option for option in verb.params for name in option.opts}
    found = []
    for field in error.fields:
        flag = FLAGS.get(field, f"--{field.replace('_', '-')}")
        if flag in options:
            found.append(" ".join(filter(None, [flag, options[flag].metavar])))
        elif "--set" in options and field.split(".")[0] in RunConfig.model_fields:
            found.append(f"--set {field}=VALUE")
    return found
