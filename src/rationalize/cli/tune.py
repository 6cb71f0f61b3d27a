"""`rationalize tune`: search settings, resumably, by their scores on dev."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import (
    DataSetting,
    DeviceSetting,
    EncoderSetting,
    LimitSetting,
    MethodSetting,
    On,
    Quiet,
    collect_settings,
    make_json_flag,
)
from rationalize.cli.show import get_command_line, tell_how_to_continue
from rationalize.reporting.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from rationalize.tuning.trials import Trial

OUT = Path("tunings/latest")


@add_reading_options
def tune(
    space: Annotated[Path, typer.Argument(metavar="SPACE", help="A YAML file with the settings to vary.")],
    data: DataSetting = None,
    out: Annotated[Path, typer.Option(help="Folder for the search; the same one goes on with it.")] = OUT,
    trials: Annotated[
        int, typer.Option(min=1, help="Finished trials, those of earlier attempts included.")
    ] = 20,
    method: MethodSetting = None,
    encoder: EncoderSetting = None,
    limit: LimitSetting = None,
    device: DeviceSetting = None,
    override: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Any setting of every trial, e.g. training.epochs=3."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of training processes, for a plan with at_once.")
    ] = None,
    on: On = None,
    report: Annotated[Path | None, typer.Option(help="Where the page goes; default OUT/report.html.")] = None,
    as_json: Annotated[bool, make_json_flag("Print all trials as JSON.")] = False,
    quiet: Quiet = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Search settings: every trial is a run folder, dev decides, and test is never read.

    Example: rationalize tune space.yaml --data data/movies --out tunings/movies --trials 30
    """
    from rationalize.data.read_options import ReadOptions
    from rationalize.data.source import read_data
    from rationalize.errors import ConfigError
    from rationalize.reporting.progress import TrainingDisplay
    from rationalize.reporting.report import write_report
    from rationalize.tuning.search_plan import load_search_plan
    from rationalize.tuning.trials import require_optuna
    from rationalize.tuning.tuner import PLAN
    from rationalize.tuning.tuner import tune as run
    from rationalize.tuning.tuning_report import make_trial_table, make_tuning_report

    flags = {
        "data.path": data,
        "method": method,
        "encoder.name": encoder,
        "data.limit": limit,
        "device": device,
    }
    plan = load_search_plan(space, collect_settings(flags | reading.to_settings(), override))
    require_optuna()
    config = plan.make_config({})
    if config.data.path is None:
        raise ConfigError("data: nothing to train on. Give a data set.", field="data.path")
    command = get_command_line()
    with tell_how_to_continue(command, lambda: (out / PLAN).is_file()):
        given = read_data(config.data.path, ReadOptions.from_run(config))
        with TrainingDisplay(quiet=quiet) as display:

            def announce(trial: Trial) -> None:
                values = ", ".join(f"{name} {value}" for name, value in trial.values.items())
                display.message(f"trial {trial.number}: {values}")

            found = run(plan, given, out, display, trials=trials, jobs=jobs, on=on, on_trial=announce)
    page = report or out / "report.html"
    write_report(page, make_tuning_report(plan, found, command))
    if as_json:
        echo_json(found.to_dict())
        return
    make_console().print(make_trial_table(plan, found))
    echo(f"Report: {page}")
    if found.best is not None:
        echo(f"Best:   {out / 'best.yaml'} (trial {found.best.number})")
