"""Data files, archives, settings and plans that somebody broke: read, or refused in words that say where; no more."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import signal
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from model_mutants import ODD, change, list_places
from test_model_mutants import limit_time

from helpers import tiny_corpus, tiny_run
from rationalize.comparison.plan import load_plan
from rationalize.config import to_yaml
from rationalize.data.annotation import FORMATS
from rationalize.data.conversion import convert
from rationalize.data.jsonl import to_row
from rationalize.data.source import load
from rationalize.data.validate import check
from rationalize.errors import ConfigError, DataError, RationalizeError
from rationalize.runs.settings import load_config
from tally import Tally

PATIENCE_S = 20
PLAN = {
    "data": {"a": "data"},
    "methods": ["un_rat", {"method": "semi_rat", "set": {"seed": 1}}],
    "seeds": [0, 1],
}
BYTES = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b'"',
    b"[" * 3000,
    b"{",
    b"\\ud800",
    b"1e999",
    b"NaN",
    b"",
)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """One data set in every format, each with the function that reads it."""
    folder = tmp_path_factory.mktemp("originals")
    corpus = tiny_corpus(6)
    (folder / "rows").mkdir()
    (folder / "rows" / "train.jsonl").write_text("".join(json.dumps(to_row(each)) + "\n" for each in corpus))
    found = [(folder / "rows", load)]
    for name in ("csv", "eraser", "parquet"):
        if name == "parquet" and not find_spec("pyarrow"):
            continue
        convert(folder / "rows", folder / name, name)
        found.append((folder / name, load))
    (folder / "shards").mkdir()
    for number in range(3):
        part = "".join(json.dumps(to_row(each)) + "\n" for each in corpus[2 * number : 2 * number + 2])
        (folder / "shards" / f"train-0000{number}-of-00003.jsonl").write_text(part)
    found.append((folder / "shards", load))
    (folder / "array").mkdir()
    (folder / "array" / "train.json").write_text(json.dumps([to_row(each) for each in corpus]))
    with tarfile.open(folder / "rows.tar.gz", "w:gz") as archive:
        archive.add(folder / "rows", "rows")
    with zipfile.ZipFile(folder / "rows.zip", "w") as archive:
        archive.write(folder / "rows" / "train.jsonl", "train.jsonl")
    found += [(folder / "array", load), (folder / "rows.tar.gz", load), (folder / "rows.zip", load)]
    for name, tool in FORMATS.items():
        path = (
            folder
            / "tools"
            / (
                f"{name}.jsonl"
                if name in ("prodigy", "doccano")
                else name
                if name == "brat"
                else f"{name}.json"
            )
        )
        path.parent.mkdir(exist_ok=True)
        try:
            tool.write(path, corpus)
        except RationalizeError:
            continue
        found.append((path, tool.read))
    (folder / "run.yaml").write_text(to_yaml(tiny_run("ssr_unif")))
    (folder / "plan.yaml").write_text(yaml.safe_dump(PLAN))
    found += [(folder / "run.yaml", load_config), (folder / "plan.yaml", lambda path: load_plan(path, {}))]
    return found


def list_files(path):
    return [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())


def break_it(path: Path, rng: random.Random) -> str:
    """Change one file, bytewise or in its structure."""
    file = rng.choice(list_files(path))
    if file.suffix in (".json", ".jsonl", ".yaml") and rng.random() < 0.6:
        return bend(file, rng)
    data = bytearray(file.read_bytes())
    at, kind = rng.randrange(len(data) + 1), rng.choice(["insert", "flip", "cut", "repeat", "swap"])
    if kind == "insert":
        data[at:at] = rng.choice(BYTES)
    elif kind == "flip" and data:
        data[at - 1] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del data[at:]
    elif kind == "repeat":
        data *= 2
    else:
        data[at : at + 40] = bytes(reversed(data[at : at + 40]))
    file.write_bytes(data)
    return f"{file.name}: {kind} at {at}"


def bend(file: Path, rng: random.Random) -> str:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".yaml":
        values = [yaml.safe_load(text)]
    else:
        values = (
            [json.loads(text)] if file.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
        )
    index = rng.randrange(len(values))
    place = rng.choice(list_places(values[index])[1:] or [()])
    new = rng.choice(ODD)
    values[index] = change(values[index], place, new, drop=bool(place) and rng.random() < 0.2)
    file.write_text("".join(json.dumps(each) + "\n" for each in values), encoding="utf-8")
    return f"{file.name}: {new!r:.40} at {place}"


def digest(path):
    return [hashlib.sha256(file.read_bytes()).digest() for file in list_files(path)]


def attempt(path, read, done, tally):
    before = digest(path)
    try:
        with limit_time(PATIENCE_S):
            if read is load:
                check(path)
            read(path)
        outcome = "read"
    except (DataError, ConfigError) as error:
        outcome = "refused"
        if not any(part in str(error) for part in (path.name, *(file.name for file in list_files(path)))):
            tally.fail(f"{done}: names no file: {error}")
            return
    except BaseException as error:
        tally.fail(f"{path.name} {done}: {type(error).__name__}: {str(error)[:200]}")
        return
    tally.fail(f"{done}: the input changed") if digest(path) != before else tally.count(outcome)


def attack(originals, tmp_path, times, seconds, seed):
    tally, rng = Tally("bad data", seconds), random.Random(seed)
    for number in tally.bound(range(times)):
        original, read = originals[number % len(originals)]
        place = tmp_path / str(number)
        place.mkdir()
        path = place / original.name
        shutil.copytree(original, path) if original.is_dir() else shutil.copy(original, path)
        attempt(path, read, break_it(path, rng), tally)
        shutil.rmtree(place)
    return tally


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs an alarm")
def test_some_broken_data(originals, tmp_path):
    assert len(originals) >= 13
    attack(originals, tmp_path, 100, 300, seed=1).close(100)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs an alarm")
def test_thousands_of_broken_data(originals, tmp_path):
    attack(originals, tmp_path, 5000, 3600, seed=2).close(5000)
