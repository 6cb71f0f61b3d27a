"""A comparison and a search on a cluster of two nodes: the same results as here, whoever dies."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from step_spy import StepSpy

from helpers import tiny_corpus
from rationalize.comparison import compare
from rationalize.data.dataset import DataSet
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import ConfigError
from rationalize.files import read_json
from rationalize.locks import HOLDER
from ray_clusters import start_cluster

pytestmark = pytest.mark.slow
pytest.importorskip("ray", reason="ray is not installed (the extra `ray`)")

TINY = {"encoder.name": "tiny", "encoder.hidden_size": 16, "encoder.layers": 1, "encoder.heads": 2}
TINY |= {"encoder.max_tokens": 64, "shortcuts.min_run": 1, "training.checkpoint_every": 1}


@pytest.fixture
def cluster():
    with start_cluster() as started:
        yield started


@pytest.fixture
def plan(tmp_path):
    corpus = tiny_corpus(64)
    for split, part in {"train": corpus[:40], "val": corpus[40:48], "test": corpus[48:]}.items():
        write_jsonl(tmp_path / "corpus" / f"{split}.jsonl", part)
    return {
        "data": {"movies": str(tmp_path / "corpus")},
        "methods": ["ssr_unif", "ssr_virt", "un_rat"],
        "set": TINY,
    }


def results(out: Path) -> dict:
    found = {path.name: read_json(path) for path in sorted((out / "cells").iterdir())}
    return {
        name: {key: value for key, value in row.items() if key != "seconds"} for name, row in found.items()
    }


def kill_holder(run: Path) -> None:
    """Kill whoever trains in a folder, once it has a checkpoint."""
    while True:
        try:
            holder = json.loads((run / HOLDER).read_text())["pid"]
            if any((run / "checkpoints").iterdir()):
                os.kill(holder, signal.SIGKILL)
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.02)


def test_cells_of_a_killed_worker_and_a_lost_node_are_finished_elsewhere(cluster, plan, tmp_path, capfd):
    plan["set"] = TINY | {"training.epochs": 12}
    on = f"ray://{cluster.address}"
    with pytest.raises(ConfigError, match="saw 1 CPU and 3 GPU, more than the cluster has"):
        compare(plan | {"resources": {"gpus": 3}}, out=tmp_path / "ray", on=on)
    assert not (tmp_path / "ray").exists()

    def break_things():
        kill_holder(tmp_path / "ray" / "runs" / "movies-un_rat-seed0")
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

    breaker = threading.Thread(target=break_things, daemon=True)
    breaker.start()
    made = compare(plan, out=tmp_path / "ray", on=on)
    breaker.join(1)
    assert not breaker.is_alive()
    assert made.failed == {}
    assert made.missing == ()
    assert "movies-un_rat-seed0: its worker was lost" in capfd.readouterr().err
    shared = [path.name for path in (tmp_path / "ray" / "runs" / "artifacts").glob("[!.]*")]
    assert len(shared) == 1
    assert not list((tmp_path / "ray" / "runs").glob(".ray-*"))
    compare(plan, out=tmp_path / "here", quiet=True)
    assert results(tmp_path / "ray") == results(tmp_path / "here")


@pytest.mark.parametrize("shared", [True, False])
def test_a_lost_cell_goes_on_at_its_last_checkpoint_where_nodes_share_the_folder(
    cluster, plan, tmp_path, monkeypatch, shared
):
    from rationalize.work import _on_ray

    submit, settle, steps = _on_ray.OnRay.submit, _on_ray.OnRay._settle, tmp_path / "steps"

    def watch(place, task):
        return submit(place, replace(task, work=StepSpy(task.work, steps, killed_at=5)))

    def hide(place):
        settle(place).unlink()
        place._all_see_home = False
        return place._token

    monkeypatch.setattr(_on_ray.OnRay, "submit", watch)
    if not shared:
        monkeypatch.setattr(_on_ray.OnRay, "_settle", hide)
    plan |= {"methods": ["un_rat"], "set": TINY | {"training.epochs": 2, "training.batch_size": 8}}
    made = compare(plan, out=tmp_path / "ray", on=f"ray://{cluster.address}", quiet=True)
    assert made.failed == {}
    made_steps = [int(line) for line in steps.read_text(encoding="utf-8").splitlines()]
    last = max(made_steps)
    assert last > 5
    # Step 5 was made, but the worker was lost before it was saved.
    again = range(5 if shared else 1, last + 1)
    assert made_steps == [*range(1, 6), *again]


def test_where_nodes_do_not_see_the_folder_files_travel_and_artifacts_are_made_once(
    cluster, plan, tmp_path, monkeypatch
):
    from rationalize.work import _on_ray

    settle = _on_ray.OnRay._settle

    def hide(place):
        settle(place).unlink()
        place._all_see_home = False
        return place._token

    monkeypatch.setattr(_on_ray.OnRay, "_settle", hide)
    plan["set"] = TINY | {"training.epochs": 1, "training.warm_start": 1}
    made = compare(plan, out=tmp_path / "ray", on=f"ray://{cluster.address}", quiet=True)
    assert made.failed == {}
    compare(plan, out=tmp_path / "here", quiet=True)
    assert results(tmp_path / "ray") == results(tmp_path / "here")
    files = {str(path.relative_to(tmp_path / "here")) for path in (tmp_path / "here").rglob("*")}
    there = {str(path.relative_to(tmp_path / "ray")) for path in (tmp_path / "ray").rglob("*")}
    assert {name for name in files - there if not name.endswith(".lock")} == set()
    shared = {path.name.split("-")[0] for path in (tmp_path / "ray" / "runs" / "artifacts").glob("[!.]*")}
    assert shared == {"warm", "movies"}


def test_an_interrupted_search_goes_on_with_the_same_values(cluster, tmp_path):
    pytest.importorskip("optuna", reason="optuna is not installed")
    from rationalize.reporting.progress import TrainingDisplay
    from rationalize.tuning.search_plan import Dimension, SearchPlan
    from rationalize.tuning.tuner import tune

    data = DataSet("tiny", {"train": tuple(tiny_corpus(40)), "dev": tuple(tiny_corpus(8))})
    plan = SearchPlan(
        preset=None,
        settings={"method": "un_rat", "training.epochs": 6, **TINY},
        space={"training.learning_rate": Dimension(low=1e-5, high=1e-2, log=True)},
        at_once=2,
    )

    def search(name, **where):
        with TrainingDisplay(quiet=True) as display:
            return tune(plan, data, tmp_path / name, display, trials=3, **where)

    def interrupt():
        checkpoints = tmp_path / "ray" / "trials" / "0001" / "checkpoints"
        while not (checkpoints.is_dir() and any(checkpoints.iterdir())):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    on = f"ray://{cluster.address}"
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        search("ray", on=on)
    assert not list((tmp_path / "ray" / "trials").glob("*/.holder.json"))  # each has saved and let go
    there, here = search("ray", on=on), search("here")
    assert [(each.values, each.score) for each in there.trials] == [
        (each.values, each.score) for each in here.trials
    ]
