"""`rationalize distill`: a faster copy of a model, which selects by fewer layers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from rationalize.cli import run_options as options
from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.export import name_beside
from rationalize.cli.flags import (
    DeviceSetting,
    EpochsSetting,
    LimitSetting,
    Override,
    Quiet,
    TrainedModel,
    Trust,
    collect_settings,
    make_json_flag,
)
from rationalize.cli.show import tell_how_to_continue
from rationalize.cli.train import refuse_used, show_run


@add_reading_options
def distill(
    model: TrainedModel,
    data: Annotated[str, typer.Option(help="Texts like those that the model was trained on (data.path).")],
    layers: Annotated[int, typer.Option(min=1, help="By how many layers the copy selects.")] = 3,
    out: Annotated[
        Path | None, typer.Option(help="Run folder of the copy; if not given, MODEL-3-layers.")
    ] = None,
    epochs: EpochsSetting = None,
    limit: LimitSetting = None,
    seed: options.SeedSetting = None,
    device: DeviceSetting = None,
    trust: Trust = None,
    override: Override = None,
    as_json: Annotated[bool, make_json_flag("Print the dev results as JSON.")] = False,
    quiet: Quiet = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Make a faster copy of a model: its selector gets fewer layers, and learns to select as the model does.

    The copy is a run, and can be resumed as one.

    Example: rationalize distill runs/movies --data movies.tar.gz --layers 3
    """
    from rationalize.rationalizer import Rationalizer
    from rationalize.runs.run_folder import is_run_folder

    flags = {
        "data.limit": limit,
        "training.epochs": epochs,
        "seed": seed,
        "device": device,
    }
    settings = collect_settings(flags | reading.to_settings(), override)
    folder = out or name_beside(model, f"-{layers}-layers")
    refuse_used(folder)
    teacher = Rationalizer.from_pretrained(model, device=device or "auto", trust=trust)
    command = f"rationalize train --resume {shlex.quote(str(folder))}"
    with tell_how_to_continue(command, lambda: is_run_folder(folder)):
        copy = teacher.distill(data, layers, folder=folder, settings=settings, quiet=quiet)
    show_run(folder, copy.config, as_json=as_json)
