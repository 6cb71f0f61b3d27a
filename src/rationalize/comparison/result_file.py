"""The small file that a finished cell leaves: what tables are made from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rationalize.config import RunConfig
from rationalize.errors import ConfigError, DataError
from rationalize.files import read_json, to_json, write_text
from rationalize.runs.settings import differences, identify, resolve_config


def read_result(path: Path) -> dict[str, Any]:
    """A cell's result file."""
    try:
        written: dict[str, Any] = read_json(path)
        _ = written["cell"]["name"], written["identity"]["config"], written["results"], written["seconds"]
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: not the result of a cell. Remove it, and it will be made again.") from None
    return written


def check_result(path: Path, identity: Mapping[str, Any]) -> None:
    """Refuse a result that was made with other settings or data."""
    old = read_result(path)["identity"]
    changed = differences({**old, "config": _complete(old["config"])}, identity)
    if changed:
        lines = "\n".join(f"  {line}" for line in changed)
        raise ConfigError(
            f"{path}: made with other settings or data.\n{lines}\nAdd --redo, or choose another --out."
        )


def _complete(config: dict[str, Any]) -> dict[str, Any]:
    """Settings of an earlier version; one that did not exist then had what is its default now."""
    try:
        return identify(resolve_config(RunConfig.model_validate(config)))
    except (ValidationError, ConfigError):
        return config


def write_result(path: Path, written: dict[str, Any]) -> None:
    """Write JSON with one line per part and six decimals: hundreds of numbers are not read one by one."""
    shown = {**written, **{name: _round(written[name]) for name in ("results", "examples")}}
    lines = [f"  {to_json(name)}: {to_json(value, indent=None)}" for name, value in shown.items()]
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def _round(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _round(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_round(each) for each in value]
    return round(value, 6) if isinstance(value, float) else value
