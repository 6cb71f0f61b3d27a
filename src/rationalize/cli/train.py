"""`rationalize train`: one method, one data set, one run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rationalize.files import to_json

if TYPE_CHECKING:
    from rationalize.config import RunConfig


def train(
    config: Annotated[Path | None, typer.Argument(help="A YAML config; flags and --set override it.")] = None,
    data: Annotated[str | None, typer.Option(help="A folder, archive or file (data.path).")] = None,
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
    out: Annotated[Path, typer.Option(help="Run folder.")] = Path("runs/latest"),
    epochs: Annotated[int | None, typer.Option(help="training.epochs")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="encoder.max_tokens")] = None,
    limit: Annotated[int | None, typer.Option(help="data.limit: train on a sample of this size.")] = None,
    gold_share: Annotated[float | None, typer.Option(help="data.gold_share")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides every random choice.")] = None,
    override: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any setting, e.g. training.patience=3."),
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the dev results as JSON.")] = False,
    quiet: Annotated[bool, typer.Option(help="Show no progress.")] = False,
) -> None:
    """Train a rationalizer, resumably, and save the best model on dev.

    Example: rationalize train --data movies.tar.gz --method semi_rat --preset small --out runs/movies
    """
    from rationalize.reporting.progress import TrainingDisplay
    from rationalize.runs.run import train as run
    from rationalize.runs.training_data import read_training_data

    flags = {
        "data.path": data,
        "method": method,
        "encoder.name": encoder,
        "training.epochs": epochs,
        "encoder.max_tokens": max_tokens,
        "data.limit": limit,
        "data.gold_share": gold_share,
        "seed": seed,
    }
    settings = _settings(config, preset, overrides(flags) + (override or []))
    examples = read_training_data(settings)
    with TrainingDisplay(quiet=quiet) as display:
        run(settings, examples, out, display, resume=resume)
    _show(out, as_json=as_json)


def overrides(flags: dict[str, Any]) -> list[str]:
    """Flags that were given, as `NAME=VALUE`."""
    from rationalize.runs.presets import to_overrides as written

    return written({name: value for name, value in flags.items() if value is not None})


def _settings(config: Path | None, preset: str | None, given: list[str]) -> RunConfig:
    """What is to be run. A preset stands where a config would, and what was given overrides either."""
    from rationalize.config import load_config
    from rationalize.errors import ConfigError
    from rationalize.runs import presets

    settings = load_config(config, given)
    if preset is None:
        return settings
    if config is not None:
        raise ConfigError(
            f"{config} and --preset {preset}: both say how to train. Give one, and --set what differs."
        )
    data = Path(settings.data.path or "").name.split(".")[0]
    common = presets.fit_to_method(presets.load_preset(preset).on(data), settings.method).settings
    return load_config(None, [*presets.to_overrides(common), *given])


def _show(out: Path, *, as_json: bool) -> None:
    from rationalize.cli.show import results_table
    from rationalize.evaluation.evaluation import Evaluation
    from rationalize.files import read_json

    results = read_json(out / "results.json")
    if as_json:
        typer.echo(to_json(results))
        return
    dev = Evaluation.from_dict(results["dev"])
    results_table({f"{dev.method} (dev)": dev})
    typer.echo(f"\nModel: {out / 'model'}")
    typer.echo(f'Try:   rationalize explain {out / "model"} "some text"')
    typer.echo(f"       rationalize evaluate {out / 'model'} --data DATA --split test")
