"""Benchmarks reach into the code; they have to keep running."""

from __future__ import annotations

import json

import pytest
from benchmarks import bag_of_words, speed

from helpers import tiny_corpus
from rationalize.data.jsonl import to_row


@pytest.mark.slow
def test_the_speed_benchmark_runs_to_its_end(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["speed", "--rounds", "1"])
    speed.main()
    assert capsys.readouterr().out.count("x (") == 4


def test_a_bag_of_words_reads_texts_and_queries(monkeypatch, capsys, tmp_path):
    for split, examples in {"train": tiny_corpus(60)[:40], "test": tiny_corpus(60)[40:]}.items():
        rows = [{**to_row(each), "query": f"is it {each.label} ?"} for each in examples]
        (tmp_path / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr("sys.argv", ["bag_of_words", str(tmp_path), "--words", "2"])
    bag_of_words.main()
    text, query = (float(line.split(": ")[1]) for line in capsys.readouterr().out.splitlines())
    assert text < query == 100.0
