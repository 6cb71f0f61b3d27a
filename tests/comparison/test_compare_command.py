"""The whole command on a small corpus: what is reused, what is refused, what is written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

from helpers import tiny_corpus
from rationalize.cli.main import app
from rationalize.comparison import run_cell
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import BusyError, ConfigError, DataError, RationalizeError
from rationalize.locks import hold_folder
from rationalize.work import _process_pool

TINY = ("encoder.name=tiny", "encoder.hidden_size=16", "encoder.layers=1", "encoder.heads=2",
        "encoder.max_tokens=64", "training.epochs=1", "shortcuts.min_run=1")  # fmt: skip


def compare(*args):
    return CliRunner().invoke(app, ["compare", *map(str, args)])


def lay_out(folder):
    """A corpus in `folder`, and the flags that all comparisons have."""
    corpus = tiny_corpus(64)
    parts = {"train": corpus[:40], "val": corpus[40:48], "test": corpus[48:56], "ood": corpus[56:]}
    for split, part in parts.items():
        write_jsonl(folder / f"{split}.jsonl", part)
    return ["--data", f"movies={folder}", *(word for each in TINY for word in ("--set", each))]


TWO = ["--method", "un_rat", "--method", "semi_rat"]


@pytest.fixture
def flags(tmp_path):
    return lay_out(tmp_path / "corpus")


@pytest.fixture
def two(flags):
    return [*flags, *TWO]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A comparison of two methods, as it was left."""
    folder = tmp_path_factory.mktemp("made")
    result = compare(*lay_out(folder / "corpus"), *TWO, "--device", "cpu", "--out", folder / "out")
    assert result.exit_code == 0, result.output
    return folder / "out"


@pytest.fixture
def finished(made, tmp_path):
    """A copy of it."""
    return shutil.copytree(made, tmp_path / "out")


def test_finished_cells_are_reused_lost_ones_made_again_the_same(two, tmp_path):
    out = tmp_path / "out"
    args = [*two, "--seed", 0, "--seed", 1, "--out", out]
    first = compare(*args)
    assert first.exit_code == 0, first.output
    tables = {path.name: path.read_text() for path in out.glob("tables.*") if path.suffix != ".json"}
    assert set(tables) == {"tables.md", "tables.tex", "tables.csv"}
    cells = sorted((out / "cells").iterdir())
    assert [cell.stem for cell in cells] == [
        "movies-semi_rat-gold0.25-seed0",
        "movies-semi_rat-gold0.25-seed1",
        "movies-un_rat-seed0",
        "movies-un_rat-seed1",
    ]
    cells[0].unlink()
    again = compare(*args)
    assert "cell 1 of 1: movies-semi_rat-gold0.25-seed0 done" in again.output
    for name, text in tables.items():
        assert (out / name).read_text() == text
    assert r"semi\_rat, reported" in tables["tables.md"]
    assert "all words" in tables["tables.md"]
    assert not list((out / "runs").rglob("model.safetensors"))


def test_a_result_of_other_settings_is_refused_and_kept_without_redo(two, finished):
    out = finished
    before = {path: path.read_text() for path in (out / "cells").iterdir()}
    changed = [*two, "--out", out, "--set", "training.batch_size=8"]
    refused = compare(*changed)
    assert isinstance(refused.exception, ConfigError)
    assert "training.batch_size: was 16, now 8" in str(refused.exception)
    assert {path: path.read_text() for path in before} == before
    assert compare(*changed, "--redo").exit_code == 0
    assert all(path.read_text() != text for path, text in before.items())


def test_where_it_ran_and_how_often_it_was_saved_is_no_other_setting(two, finished):
    again = compare(*two, "--out", finished, "--set", "training.checkpoint_every=7")
    assert again.exit_code == 0, again.output
    assert "cell 1 of" not in again.output


def test_a_setting_that_did_not_exist_yet_had_its_default(two, finished):
    path = finished / "cells" / "movies-un_rat-seed0.json"
    older = json.loads(path.read_text())
    assert older["identity"]["config"]["training"].pop("clip_norm") == 1.0
    del older["identity"]["config"]["options"]["selection"]["masking"]
    path.write_text(json.dumps(older))
    assert compare(*two, "--out", finished).exit_code == 0
    older["identity"]["config"]["training"]["gone"] = 1
    path.write_text(json.dumps(older))
    assert "training.gone: was 1" in str(compare(*two, "--out", finished).exception)


def test_tables_need_no_data(two, finished, tmp_path):
    out = finished
    (tmp_path / "corpus" / "train.jsonl").unlink()
    (out / "tables.md").unlink()
    made = compare(*two, "--out", out, "--tables-only", "--json")
    assert made.exit_code == 0, made.output
    assert [(part["data"], part["split"]) for part in json.loads(made.stdout)] == [
        ("movies", "test"),
        ("movies", "ood"),
    ]
    (out / "cells" / "movies-un_rat-seed0.json").write_text("{}")
    damaged = compare(*two, "--out", out, "--tables-only")
    assert isinstance(damaged.exception, DataError)
    assert "movies-un_rat-seed0.json: not a cell's result" in str(damaged.exception)


@pytest.fixture(params=["threads", pytest.param("processes", marks=pytest.mark.slow)])
def workers(request, monkeypatch):
    """What cells run in: processes, for which threads stand in where nothing is said of the processes themselves."""
    if request.param == "threads":
        monkeypatch.setattr(_process_pool, "ProcessPoolExecutor", lambda jobs, *_: ThreadPoolExecutor(jobs))


@pytest.mark.usefixtures("workers")
def test_cells_share_one_finder_and_wait_for_it(flags, tmp_path):
    out = tmp_path / "out"
    methods = ["--method", "ssr_unif", "--method", "ssr_virt", "--augment", "semantic"]
    made = compare(*flags, *methods, "--out", out, "--jobs", 2)
    assert made.exit_code == 0, made.output
    assert len(list((out / "cells").iterdir())) == 2
    [shared] = (out / "runs" / "artifacts").glob("[!.]*")
    assert {"un_rat", "shortcuts.jsonl", "augmented-semantic-0.25.jsonl"} <= {
        p.name for p in shared.iterdir()
    }


def test_cells_share_one_warm_start(flags, tmp_path):
    out = tmp_path / "out"
    args = [*flags, "--method", "ssr_unif", "--method", "un_rat", "--set", "training.warm_start=2"]
    rows = json.loads(compare(*args, "--out", out, "--dry-run", "--json").stdout)
    # as without, and 40 texts forward and back in two epochs, once
    assert rows[0]["passes"] == 3 * (40 * 2 + 30 * 2) + 16 * 2 + 3 * 40 * 2
    assert rows[1]["passes"] == 3 * 40 * 2 + 16 * 2
    made = compare(*args, "--out", out)
    assert made.exit_code == 0, made.output
    shared = {path.name.split("-")[0] for path in (out / "runs" / "artifacts").glob("[!.]*")}
    assert shared == {"warm", "movies"}
    assert not [path for path in out.rglob("warm_start") if path.is_dir()]


@pytest.mark.slow
def test_other_data_mean_another_finder(flags, tmp_path):
    out = tmp_path / "out"
    args = [*flags, "--method", "ssr_unif", "--out", out]
    assert compare(*args).exit_code == 0
    path = tmp_path / "corpus" / "train.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))
    made = compare(*args, "--redo")
    assert made.exit_code == 0, made.output
    assert len(list((out / "runs" / "artifacts").glob("[!.]*"))) == 2


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (RuntimeError("shapes differ"), "RuntimeError: shapes differ"),
        pytest.param(RationalizeError("the disk is full"), "the disk is full", marks=pytest.mark.slow),
    ],
)
def test_one_that_fails_does_not_stop_the_others(two, tmp_path, monkeypatch, problem, said):
    original = run_cell.train

    def failing(config, *args, **kwargs):
        if config.method == "un_rat":
            raise problem
        return original(config, *args, **kwargs)

    monkeypatch.setattr(run_cell, "train", failing)
    out = tmp_path / "out"
    made = compare(*two, "--out", out)
    assert made.exit_code == 2
    assert f"failed: movies-un_rat-seed0: {said}" in made.output
    assert (out / "cells" / "movies-semi_rat-gold0.25-seed0.json").is_file()
    story = out / "runs" / "movies-un_rat-seed0" / "traceback.txt"
    assert story.is_file() == isinstance(problem, RuntimeError)
    monkeypatch.setattr(run_cell, "train", original)
    assert compare(*two, "--out", out).exit_code == 0
    assert not story.exists()


def test_a_second_comparison_in_the_same_place_is_refused(two, tmp_path):
    with hold_folder(tmp_path / "out" / "runs"):
        refused = compare(*two, "--out", tmp_path / "out")
    assert isinstance(refused.exception, BusyError)
    assert f"process {os.getpid()} on" in str(refused.exception)


def test_a_dry_run_tells_the_cost_and_leaves_nothing(flags, tmp_path):
    out = tmp_path / "out"
    methods = ["--method", "ssr_unif", "--method", "ssr_virt"]
    rows = json.loads(compare(*flags, *methods, "--out", out, "--dry-run", "--json").stdout)
    assert [row["finished"] for row in rows] == [False, False]
    # 40 texts, 2 passes forward and back; the finder's 30 texts, once; 16 texts scored with 2 passes each
    assert rows[0]["passes"] == 3 * (40 * 2 + 30 * 2) + 16 * 2
    assert rows[1]["passes"] == 3 * 40 * 3 + 16 * 2
    assert all(row["seconds"] >= 0 for row in rows)
    assert not out.exists()


def test_transfer_and_faithfulness_stand_in_the_tables(flags, tmp_path):
    other = tmp_path / "other.jsonl"
    rows = [json.loads(line) for line in (tmp_path / "corpus" / "test.jsonl").read_text().splitlines()]
    names = {"POS": "good", "NEG": "bad"}
    other.write_text(
        "".join(json.dumps({"body": r["text"], "label": names[r["label"]]}) + "\n" for r in rows)
    )
    plan = {"methods": ["un_rat"], "splits": ["test"], "faithfulness": "drop", "set": {"data.limit": 20}}
    labels, fields = {"good": "POS", "bad": "NEG"}, {"text": "body"}
    transfer = {"elsewhere": {"path": str(other), "split": "other", "labels": labels, "fields": fields}}
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps(plan | {"transfer": transfer}))
    made = compare(path, *flags, "--out", tmp_path / "out")
    assert made.exit_code == 0, made.output
    parts = {
        part["split"]: part["rows"]["un_rat"]
        for part in json.loads((tmp_path / "out" / "tables.json").read_text())
    }
    assert set(parts) == {"test", "elsewhere"}
    for metric in ("task_f1_weighted", "comprehensiveness", "sufficiency_aopc"):
        assert parts["elsewhere"]["metrics"][metric] == pytest.approx(parts["test"]["metrics"][metric])
    assert parts["elsewhere"]["metrics"]["token_f1_eraser"] is None
    path.write_text(json.dumps(plan | {"faithfulness_limit": 4}))
    assert compare(path, *flags, "--out", tmp_path / "few").exit_code == 0
    [cell] = (tmp_path / "few" / "cells").iterdir()
    assert json.loads(cell.read_text())["results"]["test"]["faithfulness"]["n_examples"] == 4
    path.write_text(json.dumps(plan | {"transfer": {"elsewhere": {**transfer["elsewhere"], "labels": {}}}}))
    refused = compare(path, *flags, "--out", tmp_path / "other")
    assert "the model does not know" in str(refused.exception)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (["--method", "nonsense"], "nonsense"),
        (["--method", "un_rat"], "more than once: un_rat"),
        (["--baseline", "car"], "baseline 'car'"),
        (["--preset", "huge"], "preset 'huge'"),
        (["--augment", "huge"], "augment"),
        (["--set", "options.selection.nonsense=1"], "no compared method has it"),
        (["--set", "training.epochs=none"], "training.epochs"),
        (["--data", "gone=/no/such/place"], "/no/such/place"),
        (
            ["--method", "ssr_unif", "--set", "shortcuts.propagate=phrase", "--gold-share", "1"],
            "every training example is annotated",
        ),
        (["--device", "cuda:99"], "device: 'cuda:99' is not available"),
        (["--data", "nonsense"], "data 'nonsense': no path"),
        (["--data", "=nonsense"], "expected NAME=VALUE"),
    ],
)
def test_wrong_input_is_refused_before_training(two, tmp_path, extra, says):
    result = compare(*two, *extra, "--out", tmp_path / "out")
    assert isinstance(result.exception, RationalizeError), result.output
    assert says in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_a_problem_of_many_cells_is_reported_once(two, tmp_path):
    seeds = [each for seed in range(6) for each in ("--seed", seed)]
    result = compare(*two, *seeds, "--data", "gone=/no/such/place", "--out", tmp_path / "out")
    told = str(result.exception)
    assert told.count("/no/such/place") == 1
    assert "10 more" in told


def test_labels_that_training_lacks_are_refused(two, tmp_path):
    path = tmp_path / "corpus" / "test.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[3]["label"] = "maybe"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = compare(*two, "--out", tmp_path / "out")
    assert "split test: no training example has the label(s) maybe" in str(refused.exception)


def test_what_a_killed_comparison_left_after_its_result_is_swept_and_kept_models_stay(two, tmp_path):
    out = tmp_path / "out"
    assert compare(*two, "--out", out, "--keep-models").exit_code == 0
    cells = sorted(path.stem for path in (out / "cells").iterdir())
    assert not list((out / "runs" / "clocks").iterdir())
    (out / "runs" / "clocks" / f"{cells[0]}.json").write_text('{"training": 1, "scoring": 1}')
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
    )
    ended, running = f".part-{gone.stdout.strip()}", f".part-{os.getpid()}"
    places = [out, out / "cells", out / "runs" / "clocks", out / "runs" / cells[1] / "shown"]
    for place in places:
        (place / f".x.json{ended}").write_text("half")
    (out / "cells" / f".y.json{running}").write_text("somebody is writing this")
    assert compare(*two, "--out", out).exit_code == 0
    assert [(out / "runs" / cell / "model").is_dir() for cell in cells] == [False, *[True] * (len(cells) - 1)]
    assert not list((out / "runs" / "clocks").iterdir())
    left = [path.name for path in out.rglob("*.part-*")]
    assert left == [f".y.json{running}"]
