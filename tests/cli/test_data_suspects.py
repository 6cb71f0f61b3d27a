"""`data suspects`, and the floors that `evaluate` finds."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from helpers import TINY, tiny_corpus
from rationalize import Rationalizer
from rationalize.cli.main import app
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import ConfigError


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suspects")
    data = folder / "data"
    data.mkdir()
    write_jsonl(data / "test.jsonl", tiny_corpus(24))
    model = Rationalizer("semi_rat", TINY, training={"epochs": 1, "batch_size": 8})
    model.fit({"train": tiny_corpus(24), "dev": tiny_corpus(24)}, quiet=True).save_pretrained(folder / "m")
    return folder / "m", data


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def test_contradicted_labels_are_listed_and_written(places, tmp_path):
    model, data = places
    words = ("data", "suspects", data, "--model", model)
    found = json.loads(run(*words, "--json", "--out", tmp_path / "s.csv").stdout)
    assert found["n_examples"] == 24
    assert found["n_suspects"] == len(found["suspects"]) > 0
    assert all(row["label"] != row["predicted"] for row in found["suspects"])
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [row["id"] for row in found["suspects"]]
    shown = run(*words, "--limit", "1", "--out", tmp_path / "s.jsonl")
    assert f"{found['n_suspects']} of 24 labels of test are contradicted" in shown.output
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 1


def test_an_output_of_another_kind_is_refused_first(places, tmp_path):
    model, data = places
    refused = run("data", "suspects", data, "--model", model, "--out", tmp_path / "s.xlsx")
    assert isinstance(refused.exception, ConfigError)
    assert ".csv or .jsonl" in str(refused.exception)


def test_confidence_goes_from_dev_to_model_to_evaluation(places):
    model, data = places
    kept = json.loads((model / "config.json").read_text())["confidence"]
    assert kept["n"] == 24
    assert kept["temperature"] > 0
    assert f"temperature {kept['temperature']:.2f}" in (model / "README.md").read_text()
    row = json.loads(run("evaluate", model, "--data", data, "--min-precision", "0.5", "--json").stdout)
    assert row["confidence"]["n"] == 24
    # The same examples as dev, so the same errors.
    assert row["confidence"]["ece_calibrated"] == pytest.approx(kept["ece_calibrated"], abs=1e-4)
    assert row["confidence"]["n_agree"] + row["confidence"]["n_disagree"] == 24
    assert row["min_confidence"]["precision"] == 0.5
    shown = run("evaluate", model, "--data", data, "--min-precision", "0.5").output
    assert "Calibration error" in shown
    assert "right in 50% of cases" in shown
