"""Files of a finished cell: a small result file, and a few examples to show in its run folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rationalize.comparison._cell_result import CellResult, Identity
from rationalize.config import RunConfig
from rationalize.data.jsonl import read_jsonl, write_jsonl
from rationalize.errors import ConfigError, DataError
from rationalize.files import JsonObject, json_line, make_folder, read_json, to_json, write_text
from rationalize.inference.engine import Explained
from rationalize.runs.settings import identify, list_differences, resolve_config
from rationalize.types import Example, Explanation


def read_result(path: Path) -> CellResult:
    """Read a cell's result file."""
    try:
        return CellResult.from_dict(read_json(path))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{path}: not a cell's result. Remove it to run the cell again.") from None


def check_result(path: Path, identity: Identity) -> None:
    """Refuse a result from other settings or data."""
    old, new = (_make_comparable(each) for each in (read_result(path).identity, identity))
    if changed := list_differences(old, new):
        lines = "\n".join(f"  {line}" for line in changed)
        raise ConfigError(
            f"{path}: made with other settings or data.\n{lines}\n"
            "Run it again (redo), or choose another folder (out).",
            field=("redo", "out"),
        )


def _make_comparable(identity: Identity) -> JsonObject:
    return identity.to_dict() | {"config": _complete(_drop_device(identity.config))}


def _drop_device(config: Mapping[str, Any]) -> JsonObject:
    """Drop the device, which does not change results."""
    found = {name: value for name, value in config.items() if name != "device"}
    training = {name: value for name, value in found.get("training", {}).items() if name != "device"}
    return found | {"training": training}


def _complete(config: JsonObject) -> JsonObject:
    """Complete an earlier version's settings with today's defaults for the settings it lacked."""
    data = {"long_texts": "truncate", **config.get("data", {})}  # without the setting, training always cut
    try:
        return identify(resolve_config(RunConfig.model_validate({**config, "data": data})))
    except (ValidationError, ConfigError):
        return config


def write_result(path: Path, result: CellResult) -> None:
    """Write JSON with one line per part and six decimals, since nobody reads hundreds of numbers one by one."""
    row = result.to_dict()
    shown = {**row, **{name: _round(row[name]) for name in ("results", "examples")}}
    lines = [f"  {to_json(name)}: {to_json(value, indent=None)}" for name, value in shown.items()]
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def _round(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _round(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_round(each) for each in value]
    return round(value, 6) if isinstance(value, float) else value


def keep_shown(folder: Path, split: str, items: Sequence[Explained]) -> None:
    """Keep some examples and their explanations for the report."""
    make_folder(folder)
    write_jsonl(folder / f"{split}.jsonl", [item.encoded.example for item in items])
    rows = "".join(json_line(item.explanation.to_dict()) for item in items)
    write_text(folder / f"{split}-explained.jsonl", rows)


def read_shown(folder: Path, split: str) -> list[tuple[Example, Explanation]]:
    """Read the kept examples of a cell's run; empty if the run folder is gone."""
    examples, explained = (folder / "shown" / f"{split}{part}.jsonl" for part in ("", "-explained"))
    if not (examples.is_file() and explained.is_file()):
        return []
    rows = explained.read_text(encoding="utf-8").splitlines()
    return list(
        zip(read_jsonl(examples), [Explanation.from_dict(json.loads(row)) for row in rows], strict=True)
    )
