"""Artifacts that runs have in common: each lies in a folder named by all that it was made from.

The first run that wants one makes it, the others wait and use it. What a killed maker leaves is gone on with. The
whole cache may be deleted at any time: what a run still needs, it makes again to the same bits.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rationalize.config import RunConfig
from rationalize.devices import resolve_device
from rationalize.files import MANIFEST, manifest_problems, read_json, to_json, write_json, write_text
from rationalize.runs.run_folder import is_finished
from rationalize.runs.training_data import TrainingData
from rationalize.training.loop import Display
from rationalize.version import __version__

VARIABLE = "RATIONALIZE_CACHE"
USED = "cached.json"
OFF = "off"


def find_cache(setting: str) -> Path | None:
    """The cache's folder, by the setting `training.cache`; None: there is none."""
    named = os.environ.get(VARIABLE, "") if setting == "auto" else setting
    if named == OFF:
        return None
    return Path(named).expanduser() if named else _user_cache() / "rationalize"


def _user_cache() -> Path:
    """Where programs of this system keep what they can make again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def make_key(config: RunConfig, data: TrainingData, *made_from: Any) -> str:
    """A name for what is made from all this, by this version, on this kind of device."""
    import torch

    start = _identify_weights(data.start) if data.start else None
    where = [__version__, torch.__version__, resolve_device(config.device).type]
    told = to_json([where, data.fingerprint(), start, *made_from], indent=None)
    return f"seed{config.seed}-{hashlib.sha256(told.encode()).hexdigest()[:16]}"


def name_lock(entry: Path) -> Path:
    """The lock file that whoever makes or takes an entry holds."""
    return entry.with_name(f".{entry.name}.lock")


def _identify_weights(model: Path) -> list[str]:
    """What a model hands on to those that start from it."""
    entries = read_json(model / MANIFEST)["files"]
    return [entries[name]["sha256"] for name in ("model.safetensors", "tokenizer/tokenizer.json")]


def is_whole(folder: Path, display: Display) -> bool:
    """Whether a finished model is there. A damaged one is removed, aloud, so that it is made again."""
    if not is_finished(folder):
        return False
    if problems := manifest_problems(folder / "model"):
        display.message(f"{folder} is damaged and was removed: {'; '.join(problems)}")
        shutil.rmtree(folder)
        return False
    return True


def note_use(artifacts: Path, kind: str, entry: Path) -> None:
    """Record in a run's artifacts which entry of the cache it has used."""
    path = artifacts / USED
    write_json(path, {**(read_json(path) if path.is_file() else {}), kind: entry.name})


def find_used(artifacts: Path, kind: str) -> str | None:
    """The entry of the cache that a run's artifacts were taken from, if any."""
    path = artifacts / USED
    name: str | None = read_json(path).get(kind) if path.is_file() else None
    return name


def copy_files(source: Path, target: Path, names: Sequence[str]) -> None:
    """Copy those of the text files that are there."""
    for name in names:
        if (source / name).is_file():
            write_text(target / name, (source / name).read_bytes().decode("utf-8"))
