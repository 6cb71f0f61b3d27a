"""Six kinds of work that may be interrupted, as somebody would start them on the command line, made small."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers import tiny_corpus
from rationalize.data.jsonl import to_row

SETTINGS = {
    "encoder.name": "tiny",
    "encoder.hidden_size": 8,
    "encoder.layers": 1,
    "encoder.heads": 2,
    "encoder.max_tokens": 32,
    "encoder.vocabulary": 100,
    "training.epochs": 2,
    "training.batch_size": 12,
    "training.checkpoint_every": 2,
    "training.log_every": 2,
    "training.keep_checkpoints": 1,
    "training.cache": "off",
    "data.long_texts": "truncate",
}
SHORTCUTS = {"shortcuts.epochs": 1, "shortcuts.min_run": 1, "data.gold_share": 0.5}
FAMILIES: dict[str, dict[str, object]] = {
    "un_rat": {"training.epochs": 4},
    "semi_rat_warm": {"method": "semi_rat", "training.warm_start": 2, "data.gold_share": 0.5},
    "ssr_virt_semantic": {"method": "ssr_virt", "augment.kind": "semantic", **SHORTCUTS},
    "ssr_unif_rounds": {"method": "ssr_unif", "shortcuts.rounds": 2, "augment.kind": "random", **SHORTCUTS},
    "at_bmc": {"training.epochs": 4},
    "compare": {"training.epochs": 1, "training.warm_start": 1},
    # The same where what runs share is made in a cache.
    "cached": {"method": "ssr_unif", "training.warm_start": 1, "augment.kind": "random", **SHORTCUTS},
}
SIX = tuple(name for name in FAMILIES if name != "cached")


def write_data(folder: Path) -> None:
    """Small data for all of them."""
    corpus = tiny_corpus(40)
    parts = {"train": corpus[:24], "val": corpus[24:32], "test": corpus[32:36], "ood": corpus[36:]}
    folder.mkdir(parents=True, exist_ok=True)
    for split, part in parts.items():
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(to_row(each)) + "\n" for each in part))


def make_command(name: str, data: Path, root: Path) -> list[str]:
    """The command that does this work in `root`, or continues what is begun there."""
    chosen = {**SETTINGS, **FAMILIES[name]}
    if name == "cached":
        chosen["training.cache"] = str(root / "cache")
    method = str(chosen.pop("method", name))
    settings = [word for each in chosen.items() for word in ("--set", "{}={}".format(*each))]
    if name == "compare":
        methods = ["--method", "un_rat", "--method", "semi_rat"]
        return [
            "compare",
            "--data",
            f"tiny={data}",
            *methods,
            "--out",
            str(root / "out"),
            "--quiet",
            "--device",
            "cpu",
            *settings,
        ]
    if (root / "run" / "run.json").is_file():
        return ["train", "--resume", str(root / "run"), "--quiet"]
    return [
        "train",
        "--data",
        str(data),
        "--method",
        method,
        "--out",
        str(root / "run"),
        "--quiet",
        "--device",
        "cpu",
        *settings,
    ]


def digest(root: Path) -> dict[str, str]:
    """What is in a folder, hidden files too; but not what describes the machine or counts time."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_dir():
            found[name] = "folder"
        elif path.name != "env.json":
            found[name] = hashlib.sha256(_drop_times(path, str(root))).hexdigest()
    return found


def _drop_times(path: Path, root: str) -> bytes:
    data = path.read_bytes()
    if path.parent.name == "cells" or path.name == "tables.json":
        return json.dumps(_without_seconds(json.loads(data))).encode()
    return data.replace(root.encode(), b"ROOT")


def _without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_seconds(each) for name, each in value.items() if "seconds" not in name}
    return [_without_seconds(each) for each in value] if isinstance(value, list) else value


# Process ids, and times.
PASSING_NAMES = re.compile(r"\.(part|old)-\d+")
PASSING_VALUES = re.compile(rb'"(pid|since|training|scoring)": [^,}\n]+')


def fingerprint(root: Path, name: str) -> str:
    """The same for two folders from which work goes on in the same way: all names and bytes, half files too.

    Args:
        root: The folder.
        name: What the work calls it.
    """
    found = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        place = PASSING_NAMES.sub(".part", path.relative_to(root).as_posix())
        data = b"" if path.is_dir() else path.read_bytes().replace(name.encode(), b"ROOT")
        if ".json" in path.name:
            data = PASSING_VALUES.sub(b"", data)
        found.update(f"{place}\0{path.is_dir()}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return found.hexdigest()


def describe_difference(seen: dict[str, str], expected: dict[str, str]) -> Sequence[str]:
    return sorted(name for name in {*seen, *expected} if seen.get(name) != expected.get(name))
