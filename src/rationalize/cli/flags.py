"""Flags shared by several verbs, and the parser of `--set NAME=VALUE`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rationalize.errors import ConfigError
from rationalize.yaml_text import parse_yaml

if TYPE_CHECKING:
    from rationalize.config import Settings

Device = Annotated[
    str,
    typer.Option(help="Where to run: auto, cpu, cuda, cuda:1 …, mps. auto: a GPU if available."),
]
Trust = Annotated[
    Path | None,
    typer.Option(help="File with a public key (PEM): refuse models that its owner did not sign."),
]
DeviceSetting = Annotated[
    str | None, typer.Option("--device", help="Where to run: auto, cpu, cuda, cuda:1 …, mps (device).")
]
DataSetting = Annotated[str | None, typer.Option(help="A folder, archive or file (data.path).")]
MethodSetting = Annotated[str | None, typer.Option(help="Id of a method; `rationalize methods` lists them.")]
EncoderSetting = Annotated[
    str | None, typer.Option(help="minilm, gte_small, tiny, gru, a folder or a Hugging Face id.")
]
EpochsSetting = Annotated[int | None, typer.Option(help="training.epochs")]
LimitSetting = Annotated[int | None, typer.Option(help="data.limit: train on a sample of this size.")]
Override = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any setting, e.g. training.patience=3."),
]
TrainedModel = Annotated[str, typer.Argument(help="A model folder, a run folder or a Hub id.")]
Truncate = Annotated[
    bool, typer.Option(help="Read only what fits the encoder, as the papers do, not the whole text.")
]
Host = Annotated[str, typer.Option(help="Address to listen on; any but this machine's own needs an API key.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")]
On = Annotated[
    str | None,
    typer.Option(
        metavar="ray[://HOST:PORT]",
        help="Run on a Ray cluster: its head's address; `ray`: RAY_ADDRESS, or this machine's own.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Decides every random choice.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a folder written before.")]
GuardFormulas = Annotated[
    bool, typer.Option(help="In a .csv: an apostrophe before cells that a spreadsheet would run.")
]
Browser = Annotated[bool, typer.Option(help="Open the page in a browser.")]
Quiet = Annotated[bool, typer.Option(help="Show no progress.")]


def make_json_flag(help: str) -> Any:
    """Make the option `--json`."""
    return typer.Option("--json", help=help)


AsJson = Annotated[bool, make_json_flag("Print JSON instead of tables.")]


def parse_floors(given: Sequence[str] | None) -> float | dict[str, float] | None:
    """Parse `--min-confidence`: one number for all labels, or `LABEL=NUMBER` for some."""
    if not given:
        return None
    floors: dict[str, float] = {}
    for each in given:
        label, equals, number = each.rpartition("=")
        try:
            floors[label if equals else ""] = float(number)
        except ValueError:
            raise ConfigError(
                f"--min-confidence {each!r}: expected a number from 0 to 1, or LABEL=NUMBER."
            ) from None
    if "" not in floors:
        return floors
    if len(floors) > 1:
        raise ConfigError(
            "--min-confidence: saw a number for all labels and one for a label, expected either."
        )
    return floors[""]


def collect_settings(flags: Mapping[str, Any], override: Sequence[str] | None) -> Settings:
    """Merge the settings of the given flags and those after `--set`, which win."""
    return {name: value for name, value in flags.items() if value is not None} | parse_settings(override)


def parse_settings(override: Sequence[str] | None) -> Settings:
    """Parse `NAME=VALUE` pairs after `--set` into values by dotted name."""
    found = {}
    for text in override or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"--set {text}: expected NAME=VALUE, for instance training.epochs=5.")
        found[name.strip()] = _parse_value(value, f"--set {text}")
    return found


def _parse_value(text: str, where: str) -> Any:
    """Parse a value as YAML, but read 1e-4 as a number."""
    value = parse_yaml(text, where if len(where) <= 200 else f"{where[:200]}…")
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d+(\.\d*)?e[-+]?\d+", value, re.IGNORECASE):
        return float(value)
    return value
