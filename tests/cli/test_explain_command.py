"""`explain`: files, standard input, empty texts, ids that can be joined back."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers import TINY, tiny_corpus
from rationalize import Rationalizer
from rationalize.cli.main import app


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    training = {"epochs": 1, "batch_size": 8}
    Rationalizer("un_rat", TINY, training=training).fit(tiny_corpus(24), quiet=True).save_pretrained(
        folder / "m"
    )
    return folder / "m"


def explain(*words: object, given: bytes | None = None):
    result = CliRunner().invoke(app, ["explain", *map(str, words)], input=given)
    assert result.exit_code == 0, result.output
    return result.stdout


ROWS = [{"id": "a", "text": "a joy to watch"}, {"id": "b", "text": ""}, {"id": "c", "text": "dull 😀 stuff"}]
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)


def test_json_lines_come_in_and_go_out_and_an_empty_text_is_a_text(model, tmp_path):
    (tmp_path / "texts.jsonl").write_text(LINES, encoding="utf-8")
    piped = explain(model, "--file", "-", given=LINES.encode())
    assert explain(model, "--file", tmp_path / "texts.jsonl") == piped
    found = [json.loads(line) for line in piped.splitlines()]
    assert [(row["id"], row["text"]) for row in found] == [(row["id"], row["text"]) for row in ROWS]
    assert found[1]["rationale"] == []
    assert found[1]["label"] == json.loads(explain(model, "", "--json"))["label"]


def test_a_table_keeps_its_ids_and_its_column_names(model, tmp_path):
    (tmp_path / "posts.csv").write_text("post;body\n7;a joy to watch\n9;dull stuff\n", encoding="utf-8")
    fields = ("--id-field", "post", "--text-field", "body")
    explain(model, "--file", tmp_path / "posts.csv", *fields, "--out", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["text"]) for row in rows] == [("7", "a joy to watch"), ("9", "dull stuff")]
    assert all(0.5 <= float(row["probability"]) <= 1 for row in rows)


def test_nothing_is_left_of_a_file_that_breaks_off(model, tmp_path):
    (tmp_path / "texts.jsonl").write_text(LINES + "not json\n", encoding="utf-8")
    command = [
        "explain",
        str(model),
        "--file",
        str(tmp_path / "texts.jsonl"),
        "--out",
        str(tmp_path / "out.jsonl"),
        "--bad-rows",
        "refuse",
    ]
    result = CliRunner().invoke(app, command)
    assert "texts.jsonl:4" in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["texts.jsonl"]


def test_bad_rows_are_put_aside_and_counted(model, tmp_path):
    path, out = tmp_path / "texts.jsonl", tmp_path / "out.jsonl"
    path.write_text('{"text": 3}\n' + LINES + 'not json\n{"id": "d", "label": "x"}\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["explain", str(model), "--file", str(path), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "3 of 6 rows could not be read" in done.stderr
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["a", "b", "c"]
    bad = [json.loads(line) for line in (tmp_path / "out.errors.jsonl").read_text().splitlines()]
    assert [row["place"] for row in bad] == [f"{path}:{line}" for line in (1, 5, 6)]
    assert [row["problems"][0]["kind"] for row in bad] == ["wrong type", "not JSON", "missing field"]
    path.write_text(LINES, encoding="utf-8")
    out.unlink()
    explain(model, "--file", path, "--out", out)
    assert not (tmp_path / "out.errors.jsonl").exists()


def test_a_file_without_a_good_row_is_an_error(model, tmp_path):
    path, out = tmp_path / "texts.jsonl", tmp_path / "out.jsonl"
    path.write_text('{"body": "so good"}\n' * 3, encoding="utf-8")
    done = CliRunner().invoke(app, ["explain", str(model), "--file", str(path), "--out", str(out)])
    assert "all 3 are wrong" in str(done.exception)
    assert "data.fields.text" in done.exception.fields
    assert [each.name for each in tmp_path.iterdir()] == ["texts.jsonl"]


def test_labels_that_are_not_sure_enough_are_withheld(model, tmp_path):
    held = json.loads(explain(model, "a joy to watch", "--min-confidence", "1", "--json"))
    assert held["label"] == "abstain"
    assert "abstain" in explain(model, "a joy to watch", "--min-confidence", "1")
    (tmp_path / "texts.jsonl").write_text(LINES, encoding="utf-8")
    explain(
        model, "--file", tmp_path / "texts.jsonl", "--out", tmp_path / "out.csv", "--min-confidence", "NEG=1",
        "--min-confidence", "POS=1",
    )  # fmt: skip
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert {row["label"] for row in csv.DictReader(file)} == {"abstain"}


def test_a_text_and_a_file_in_half_precision(model, tmp_path):
    def read(*flags):
        return json.loads(explain(model, "a joy to watch", "--json", *flags))["probabilities"]

    exact, half = read(), read("--precision", "bf16")
    assert exact != half
    assert half == pytest.approx(exact, abs=0.05)
    (tmp_path / "texts.jsonl").write_text('{"id": "a", "text": "a joy to watch"}\n', encoding="utf-8")
    explain(
        model, "--file", tmp_path / "texts.jsonl", "--out", tmp_path / "out.jsonl", "--precision", "bf16",
    )  # fmt: skip
    assert json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))["probabilities"] == half


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["high"], "a number from 0 to 1"),
        (["MAYBE=0.5"], "'MAYBE', expected one of"),
        (["2"], "expected 0 to 1"),
        (["0.5", "POS=0.5"], "expected either"),
    ],
)
def test_floors_that_cannot_be_are_refused(model, given, words):
    flags = [part for each in given for part in ("--min-confidence", each)]
    result = CliRunner().invoke(app, ["explain", str(model), "text", *flags])
    assert words in str(result.exception)


def test_shards_become_a_folder_of_parts(model, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for number in (2, 10):
        (tmp_path / f"posts-{number}.jsonl").write_text(json.dumps({"id": number, "text": "a joy"}) + "\n")
    explain(model, "--file", tmp_path / "posts-*.jsonl", "--out", tmp_path / "out", "--format", "parquet")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["part-00001.parquet"]
    assert parquet.read_table(tmp_path / "out")["id"].to_pylist() == ["2", "10"]


@pytest.mark.parametrize("flag", [("--workers", "2"), ("--resume",), ("--format", "csv")])
def test_what_needs_an_output(model, tmp_path, flag):
    result = CliRunner().invoke(app, ["explain", str(model), "--file", "-", *flag], input=b"")
    assert "need --out" in str(result.exception)


def start(*words):
    run = "from rationalize.cli.main import main; main()"
    command = [sys.executable, "-c", run, "explain", *map(str, words), "--quiet"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for_parts(out, count, process):
    parts = out.with_name(f"{out.name}.unfinished") / "parts"
    while len(list(parts.glob("part-*"))) < count:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)


def kill_worker(process):
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    worker = next(pid for pid in children if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text())
    os.kill(int(worker), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
def test_a_hundred_thousand_rows_survive_the_end_of_a_worker_and_of_the_command(model, tmp_path):
    rows = 100_000
    for shard in range(4):
        numbers = range(shard * rows // 4, (shard + 1) * rows // 4)
        lines = (json.dumps({"id": str(number), "text": f"joy {number}"}) + "\n" for number in numbers)
        (tmp_path / f"posts-{shard}.jsonl").write_text("".join(lines))
    out = tmp_path / "out"
    words = (model, "--file", tmp_path / "posts-*.jsonl", "--out", out, "--workers", 2, "--resume")
    for ending, code, parts in ((signal.SIGINT, 130, 4), (signal.SIGKILL, -signal.SIGKILL, 8)):
        process = start(*words)
        wait_for_parts(out, parts, process)
        kill_worker(process)
        wait_for_parts(out, parts + 3, process)
        os.killpg(process.pid, ending) if ending == signal.SIGINT else process.kill()
        assert process.wait() == code
        assert "Traceback" not in process.stderr.read()  # which ends when the last worker does
        assert not out.exists()
    again = start(*words)
    assert again.wait() == 0, again.stderr.read()
    found = [json.loads(line) for part in sorted(out.iterdir()) for line in part.open(encoding="utf-8")]
    assert [row["id"] for row in found] == [str(number) for number in range(rows)]
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []
