"""What a finished cell leaves on disk: a small result file, and in its run folder a few examples to show."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rationalize.comparison.cell_result import CellResult, Identity
from rationalize.config import RunConfig
from rationalize.data.jsonl import read_jsonl, write_jsonl
from rationalize.errors import ConfigError, DataError
from rationalize.files import json_line, read_json, to_json, write_text
from rationalize.inference.engine import Explained
from rationalize.runs.settings import differences, identify, resolve_config
from rationalize.types import Example, Explanation


def read_result(path: Path) -> CellResult:
    """A cell's result file."""
    try:
        return CellResult.from_dict(read_json(path))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{path}: not the result of a cell. Remove it, and it will be made again.") from None


def check_result(path: Path, identity: Identity) -> None:
    """Refuse a result that was made with other settings or data."""
    old, new = (_comparable(each) for each in (read_result(path).identity, identity))
    if changed := differences(old, new):
        lines = "\n".join(f"  {line}" for line in changed)
        raise ConfigError(
            f"{path}: made with other settings or data.\n{lines}\n"
            "Ask for it to be made again (redo), or choose another place (out).",
            field=("redo", "out"),
        )


def _comparable(identity: Identity) -> dict[str, Any]:
    return identity.to_dict() | {"config": _complete(_drop_device(identity.config))}


def _drop_device(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without the device: it is where things are computed, not what."""
    found = {name: value for name, value in config.items() if name != "device"}
    training = {name: value for name, value in found.get("training", {}).items() if name != "device"}
    return found | {"training": training}


def _complete(config: dict[str, Any]) -> dict[str, Any]:
    """Settings of an earlier version; one that did not exist then had what is its default now."""
    try:
        return identify(resolve_config(RunConfig.model_validate(config)))
    except (ValidationError, ConfigError):
        return config


def write_result(path: Path, result: CellResult) -> None:
    """Write JSON with one line per part and six decimals: hundreds of numbers are not read one by one."""
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
    """Keep these examples and how they were explained."""
    folder.mkdir(exist_ok=True)
    write_jsonl(folder / f"{split}.jsonl", [item.encoded.example for item in items])
    rows = "".join(json_line(item.explanation.to_dict()) for item in items)
    write_text(folder / f"{split}-explained.jsonl", rows)


def read_shown(folder: Path, split: str) -> list[tuple[Example, Explanation]]:
    """The examples of a cell's run that are kept to be shown; none if the run folder is gone."""
    examples, explained = (folder / "shown" / f"{split}{part}.jsonl" for part in ("", "-explained"))
    if not (examples.is_file() and explained.is_file()):
        return []
    rows = explained.read_text(encoding="utf-8").splitlines()
    return list(
        zip(read_jsonl(examples), [Explanation.from_dict(json.loads(row)) for row in rows], strict=True)
    )
