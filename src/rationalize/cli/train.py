"""`rationalize train`: one method, one data set, one run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rationalize.cli.flags import DeviceSetting, collect_settings
from rationalize.errors import ConfigError
from rationalize.files import to_json

if TYPE_CHECKING:
    from rationalize.config import RunConfig

OUT = Path("runs/latest")


def train(
    config: Annotated[Path | None, typer.Argument(help="A YAML config; flags and --set override it.")] = None,
    data: Annotated[str | None, typer.Option(help="A folder, archive or file (data.path).")] = None,
    data_name: Annotated[
        str | None, typer.Option(help="Which data set it is, for a preset's settings for it (data.name).")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="Id of a method; `rationalize methods` lists them.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="minilm, tiny, gru, a folder or a Hugging Face id.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="Named settings instead of a config: small (two cores) or paper (a GPU)."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help=f"Run folder; default {OUT}.")] = None,
    epochs: Annotated[int | None, typer.Option(help="training.epochs")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="encoder.max_tokens")] = None,
    limit: Annotated[int | None, typer.Option(help="data.limit: train on a sample of this size.")] = None,
    gold_share: Annotated[float | None, typer.Option(help="data.gold_share")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides every random choice.")] = None,
    device: DeviceSetting = None,
    override: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any setting, e.g. training.patience=3."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Go on with the run in this folder, with its settings. --epochs may add epochs.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the dev results as JSON.")] = False,
    quiet: Annotated[bool, typer.Option(help="Show no progress.")] = False,
) -> None:
    """Train a rationalizer, resumably, and save the best model on dev.

    Example: rationalize train --data movies.tar.gz --method semi_rat --preset small --out runs/movies

    Example: rationalize train --resume runs/movies
    """
    from rationalize.devices import resolve_device
    from rationalize.reporting.card import render_card
    from rationalize.reporting.progress import TrainingDisplay
    from rationalize.runs.presets import describe_use
    from rationalize.runs.run import train as run
    from rationalize.runs.training_data import read_training_data

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
    }
    if resume is None:
        folder = out or OUT
        settings = _new_run(config, preset, collect_settings(flags, override), folder)
    else:
        folder = resume
        _refuse_beside_resume(config, preset, out, resume)
        settings = _old_run(resume, collect_settings(flags, override))
    resolve_device(settings.device)  # before the data are read
    examples = read_training_data(settings)
    with TrainingDisplay(quiet=quiet) as display:
        if settings.preset is not None:
            display.message(describe_use(settings.preset, settings.method))
        run(settings, examples, folder, display, resume=resume is not None, card=render_card)
    _show(folder, settings, as_json=as_json)


def _new_run(config: Path | None, preset: str | None, settings: dict[str, Any], folder: Path) -> RunConfig:
    from rationalize.runs.run_folder import read_record
    from rationalize.runs.settings import load_config

    if read_record(folder) is not None:
        raise ConfigError(
            f"{folder}: there is a run already. Go on with it by --resume {folder}, or choose another --out."
        )
    return load_config(config, settings, preset=preset)


def _refuse_beside_resume(config: Path | None, preset: str | None, out: Path | None, resume: Path) -> None:
    """Settings come from the run that is resumed; flags change single ones, if at all."""
    beside = {"a config": config, "--preset": preset, "--out": out if out != resume else None}
    named = [name for name, value in beside.items() if value is not None]
    if named:
        raise ConfigError(
            f"--resume {resume}: goes on with the run's own settings in its own folder, so {', '.join(named)} "
            "cannot be given too."
        )


def _old_run(folder: Path, settings: dict[str, Any]) -> RunConfig:
    """The settings of a run that is resumed; what may not change is refused later, when they are compared."""
    from rationalize.config import RunConfig, validate
    from rationalize.runs.run_folder import read_record
    from rationalize.runs.settings import apply_settings, resolve_config

    record = read_record(folder)
    if record is None:
        raise ConfigError(
            f"--resume {folder}: there is no run. Expected a folder made by `rationalize train`."
        )
    if record.config.data.path is None and "data.path" not in settings:
        raise ConfigError(
            f"--resume {folder}: the run does not say where its data are, they were given in Python. Name them by "
            "--data, or resume it in Python."
        )
    values = apply_settings(record.config.model_dump(mode="json"), settings)
    config: RunConfig = validate(RunConfig, values, f"{folder} with the settings given")
    return resolve_config(config)


def _show(out: Path, settings: RunConfig, *, as_json: bool) -> None:
    from rationalize.cli.show import results_table
    from rationalize.files import read_json

    results = read_json(out / "results.json")
    if as_json:
        preset = {"preset": settings.preset.model_dump(mode="json")} if settings.preset else {}
        typer.echo(to_json({**results, **preset}))
        return
    results_table({f"{results['dev']['method']} (dev)": results["dev"]})
    typer.echo(f"\nModel: {out / 'model'}")
    typer.echo(f'Try:   rationalize explain {out / "model"} "some text"')
    typer.echo(f"       rationalize evaluate {out / 'model'} --data DATA --split test")
