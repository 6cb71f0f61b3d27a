"""Options of the verbs that train: train, tune, compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

MANY = "Repeatable."
RUN = Path("runs/latest")

# one run
ConfigFile = Annotated[Path | None, typer.Argument(help="A YAML config; flags and --set override it.")]
DataName = Annotated[
    str | None, typer.Option(help="Name of the data set, to find its settings in a preset (data.name).")
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Named settings instead of a config: auto (by what the data look like, the default), small (two "
        "cores) or paper (a GPU)."
    ),
]
RunFolder = Annotated[Path | None, typer.Option(help=f"Run folder; default {RUN}.")]
MaxTokens = Annotated[int | None, typer.Option(help="encoder.max_tokens")]
GoldShare = Annotated[float | None, typer.Option(help="data.gold_share")]
SeedSetting = Annotated[int | None, typer.Option(help="Decides every random choice.")]
ReportTo = Annotated[
    Literal["none", "tensorboard", "mlflow", "wandb", "trackio"] | None,
    typer.Option(help="Also report losses and dev scores here (training.report_to)."),
]
ResumeRun = Annotated[
    Path | None,
    typer.Option(
        metavar="RUN", help="Continue the run in this folder, with its settings. --epochs may add epochs."
    ),
]

# a comparison of many
PlanFile = Annotated[Path | None, typer.Argument(help="A YAML plan; flags override it.")]
Methods = Annotated[list[str] | None, typer.Option(help=f"Id of a method, or a name in the plan. {MANY}")]
DataSets = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=PATH]",
        help=f"NAME alone: a data set of the plan. PATH `planted`: the built-in corpus. {MANY}",
    ),
]
Seeds = Annotated[list[int] | None, typer.Option(help=MANY)]
GoldShares = Annotated[list[float] | None, typer.Option(help=f"Share of the gold rationales to use. {MANY}")]
Augmentations = Annotated[
    list[str] | None, typer.Option(help=f"none, random, semantic, mixed or counterfactual. {MANY}")
]
AugmentShares = Annotated[list[float] | None, typer.Option(help=f"Share of copies. {MANY}")]
CellPreset = Annotated[str | None, typer.Option(help="small, paper or planted.")]
CellOverride = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=f"For every cell. {MANY}")
]
Baseline = Annotated[str | None, typer.Option(help="Method to test the others against; default: the first.")]
ComparisonOut = Annotated[Path, typer.Option(help="Where runs and tables go.")]
CellsOut = Annotated[Path | None, typer.Option(help="Where result files go; default OUT/cells.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of training processes.")]
Redo = Annotated[bool, typer.Option(help="Run cells again whose result comes from other settings or data.")]
KeepModels = Annotated[bool, typer.Option(help="Keep the models of finished cells.")]
TablesOnly = Annotated[bool, typer.Option(help="Only make tables of finished cells.")]
DryRun = Annotated[bool, typer.Option(help="Show the plan and its cost.")]
