"""`rationalize train`: one method, one data set, one run folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli import run_options as options
from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import (
    DataSetting,
    DeviceSetting,
    EncoderSetting,
    EpochsSetting,
    LimitSetting,
    MethodSetting,
    Override,
    Quiet,
    collect_settings,
    make_json_flag,
)
from rationalize.cli.show import tell_how_to_continue
from rationalize.errors import ConfigError
from rationalize.reporting.terminal import echo, echo_json

if TYPE_CHECKING:
    from rationalize.config import RunConfig, Settings
    from rationalize.rationalizer import Rationalizer


@add_reading_options
def train(
    config: options.ConfigFile = None,
    data: DataSetting = None,
    data_name: options.DataName = None,
    method: MethodSetting = None,
    encoder: EncoderSetting = None,
    preset: options.Preset = None,
    out: options.RunFolder = None,
    epochs: EpochsSetting = None,
    max_tokens: options.MaxTokens = None,
    limit: LimitSetting = None,
    gold_share: options.GoldShare = None,
    seed: options.SeedSetting = None,
    device: DeviceSetting = None,
    report_to: options.ReportTo = None,
    override: Override = None,
    resume: options.ResumeRun = None,
    as_json: Annotated[bool, make_json_flag("Print the dev results as JSON.")] = False,
    quiet: Quiet = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Train a rationalizer, resumably, and save the best model on dev.

    Example: rationalize train --data movies.tar.gz --method semi_rat --preset small --out runs/movies

    Example: rationalize train --resume runs/movies

    Example: torchrun --nproc-per-node 2 -m rationalize train --data movies.tar.gz --method semi_rat --preset small
    """
    from rationalize.processes import is_helper
    from rationalize.rationalizer import Rationalizer
    from rationalize.runs.run_folder import is_run_folder

    if is_helper():
        _help()
        return
    flags = {
        "data.path": data,
        "data.name": data_name,
        "method": method,
        "encoder.name": encoder,
        "training.epochs": epochs,
        "encoder.max_tokens": max_tokens,
        "data.limit": limit,
        "data.gold_share": gold_share,
        "seed": seed,
        "device": device,
        "training.report_to": report_to,
    }
    settings = collect_settings(flags | reading.to_settings(), override)
    folder = resume or out or options.RUN
    command = f"rationalize train --resume {shlex.quote(str(folder))}"
    with tell_how_to_continue(command, lambda: is_run_folder(folder)):
        if resume is not None:
            _refuse_beside_resume(config, preset, out, resume)
            model = Rationalizer.resume(resume, settings=settings, quiet=quiet)
        else:
            refuse_used(folder)
            model = configure(config, preset, settings)
            model.fit(model.config.data.path, folder=folder, quiet=quiet)
    show_run(folder, model.config, as_json=as_json)


def _help() -> None:
    """Help process 0, which has read the same command line, and says everything that is to be said."""
    from rationalize.training.helping import help_training

    done = help_training()
    if done.problem is not None:
        raise typer.Exit(done.exit_code)


def configure(config: Path | None, preset: str | None, settings: Settings) -> Rationalizer:
    """Build an untrained model: from a config file, which says everything, or from flags over a preset."""
    from rationalize.rationalizer import Rationalizer
    from rationalize.runs.settings import load_config

    if config is not None:
        return Rationalizer.from_config(load_config(config, settings, preset=preset))
    return Rationalizer.from_settings(settings, preset=preset or "auto")


def refuse_used(folder: Path) -> None:
    """Refuse a folder that has a run."""
    from rationalize.runs.run_folder import read_record

    if read_record(folder) is not None:
        raise ConfigError(
            f"{folder}: already has a run. Continue it with `rationalize train --resume {folder}`, or choose another "
            "--out."
        )


def _refuse_beside_resume(config: Path | None, preset: str | None, out: Path | None, resume: Path) -> None:
    """Refuse a config, preset or folder: the resumed run has its own."""
    beside = {"a config": config, "--preset": preset, "--out": out if out != resume else None}
    named = [name for name, value in beside.items() if value is not None]
    if named:
        raise ConfigError(
            f"--resume {resume}: continues the run with its own settings in its own folder. "
            f"Leave out {', '.join(named)}."
        )


def show_run(out: Path, settings: RunConfig, *, as_json: bool) -> None:
    """Show a finished run: dev scores, beside those of its teacher if it had one, the verdict, and what to try."""
    from rationalize.cli.show import show_results, show_verdict
    from rationalize.evaluation.evaluation import Evaluation
    from rationalize.evaluation.verdict import judge
    from rationalize.files import read_json

    results = read_json(out / "results.json")
    if as_json:
        preset = {"preset": settings.preset.model_dump(mode="json")} if settings.preset else {}
        echo_json({**results, **preset})
        return
    dev = Evaluation.from_dict(results["dev"])
    shown = {f"{dev.method} (dev, n={dev.n_examples})": dev}
    if "teacher" in results:
        shown["its teacher"] = Evaluation.from_dict(results["teacher"])
    show_results(shown, warnings=False)
    show_verdict(judge(dev))
    for warning in results["warnings"]:
        echo(f"warning: {warning}")
    echo(f"\nModel: {out / 'model'}")
    echo(f'Try:   rationalize explain {out / "model"} "some text"')
    echo(f"       rationalize evaluate {out / 'model'} --data DATA --split test")
