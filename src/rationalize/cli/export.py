"""`rationalize export`: write a model that runs in another engine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from rationalize.cli.flags import Force, Trust, make_json_flag
from rationalize.errors import ConfigError
from rationalize.reporting.terminal import echo, echo_json

ExportFormat = Literal["onnx"]


def export(
    model: Annotated[str, typer.Argument(help="A model or run folder, or a Hub id.")],
    to: Annotated[ExportFormat, typer.Option(help="The format.")] = "onnx",
    int8: Annotated[bool, typer.Option("--int8", help="Round the encoders' matrices to 8 bits.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="The new folder; if not given, MODEL-onnx or MODEL-onnx-int8.")
    ] = None,
    trust: Trust = None,
    force: Force = False,
    as_json: Annotated[bool, make_json_flag("Print JSON.")] = False,
) -> None:
    """Write a model folder whose encoders are ONNX graphs; explain, evaluate and serve take it as any other.

    Example: rationalize export runs/movies --to onnx --int8 --out runs/movies-small
    """
    from rationalize.rationalizer import Rationalizer

    folder = out or name_beside(model, f"-{to}{'-int8' if int8 else ''}")
    if folder.exists() and not force:
        raise ConfigError(
            f"{folder}: exists already. Give another folder, or replace it.", field=("out", "force")
        )
    done = Rationalizer.from_pretrained(model, device="cpu", trust=trust).export(folder, to=to, int8=int8)
    if as_json:
        echo_json({**asdict(done), "folder": str(done.folder)})
        return
    echo(
        f"exported: {done.folder} ({done.bytes / 1e6:.1f} MB; vectors within {done.difference:.1g} of torch's)"
    )
    echo(f"next: rationalize explain {done.folder} TEXT")


def name_beside(model: str, ending: str) -> Path:
    """Return the folder beside a model that is named after it; for one from the Hub, a folder here."""
    given = Path(model)
    if not given.exists():
        return Path(given.name + ending)
    if given.name in ("", ".."):
        given = given.resolve()
    return given.with_name(given.name + ending)
