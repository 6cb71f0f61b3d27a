"""Cache artifacts that runs share, each in a folder named by a hash of its inputs.

The first run that needs an artifact makes it; other runs wait and reuse it. If that run is killed, the next one
continues its work. The whole cache may be deleted at any time: a run remakes what it needs, bit for bit.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rationalize.config import RunConfig
from rationalize.devices import resolve_device
from rationalize.files import (
    CACHE_VARIABLE,
    MANIFEST,
    find_user_cache,
    manifest_problems,
    read_json,
    to_json,
    write_json,
    write_text,
)
from rationalize.locks import forget_holder
from rationalize.runs.run_folder import is_finished, read_record, tidy_run
from rationalize.runs.training_data import TrainingData
from rationalize.training.loop import Display
from rationalize.version import __version__

USED = "cached.json"
OFF = "off"


def find_cache(setting: str) -> Path | None:
    """Return the cache folder for the setting `training.cache`; None: the cache is off."""
    named = os.environ.get(CACHE_VARIABLE, "") if setting == "auto" else setting
    if named == OFF:
        return None
    return Path(named).expanduser() if named else find_user_cache()


def place_shared(config: RunConfig, folder: Path, kind: str) -> Path:
    """Return the folder for files of a kind that runs share; without a cache, it is among the run's own artifacts."""
    cache = find_cache(config.training.cache)
    return folder / "artifacts" if cache is None else cache / kind


def make_key(config: RunConfig, data: TrainingData, *made_from: Any) -> str:
    """Make a cache key from the data, all other inputs, the version and the kind of device."""
    import torch

    start = _identify_weights(data.start) if data.start else None
    where = [__version__, torch.__version__, resolve_device(config.device).type]
    source = to_json([where, data.fingerprint(), start, *made_from], indent=None)
    return f"seed{config.seed}-{hashlib.sha256(source.encode()).hexdigest()[:16]}"


def _identify_weights(model: Path) -> list[str]:
    """Return the hashes of what other models take over from this one: weights and tokenizer."""
    entries = read_json(model / MANIFEST)["files"]
    return [entries[name]["sha256"] for name in ("model.safetensors", "tokenizer/tokenizer.json")]


def is_whole(folder: Path, display: Display) -> bool:
    """Return whether the folder holds a finished, intact model; nothing else is left in it then.

    A damaged one is deleted and reported.
    """
    if not is_finished(folder):
        return False
    if problems := manifest_problems(folder / "model"):
        display.message(f"{folder} is damaged and was removed: {'; '.join(problems)}")
        shutil.rmtree(folder)
        return False
    if record := read_record(folder):
        tidy_run(record, folder)
        forget_holder(folder)
    return True


def note_use(artifacts: Path, kind: str, entry: Path) -> None:
    """Record in a run's artifacts which cache entry it used."""
    path = artifacts / USED
    write_json(path, {**(read_json(path) if path.is_file() else {}), kind: entry.name})


def find_used(artifacts: Path, kind: str) -> str | None:
    """Return the cache entry that a run's artifacts came from, if any."""
    path = artifacts / USED
    name: str | None = read_json(path).get(kind) if path.is_file() else None
    return name


def copy_files(source: Path, target: Path, names: Sequence[str]) -> None:
    """Copy text files; skip missing ones."""
    for name in names:
        if (source / name).is_file():
            write_text(target / name, (source / name).read_bytes().decode("utf-8"))
