"""Benchmarks reach into the code; they have to keep running. And what the pages claim is what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from benchmarks import bag_of_words, speed, tables

from helpers import tiny_corpus
from rationalize.data.jsonl import to_row

DOCS = Path(__file__).parents[1] / "docs"
SLOW_PLANS = {"efficiency", "planted", "real", "ssr", "ssr_options"}
NUMBER = re.compile(r"[-+−]?[\d.]+(?: ± [\d.]+)?(?: s)?")


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


@pytest.mark.parametrize(
    "plan",
    [pytest.param(each, marks=pytest.mark.slow if each in SLOW_PLANS else ()) for each in tables.plans()],
)
def test_committed_tables_and_figures_are_what_the_results_give(plan):
    for path, text in tables.make_files(plan).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is out of date: run `make tables`"


def test_the_committed_costs_are_what_the_results_give():
    assert (tables.TABLES / "cost.md").read_text(encoding="utf-8") == tables.make_costs()


@pytest.mark.parametrize("page", ["results.md", "choosing.md"])
def test_every_number_in_the_tables_of_a_page_is_in_the_generated_tables(page):
    """A row of a page has only numbers that rows of the same name have in the tables its section links."""
    checked = 0
    for section in re.split(r"(?m)^## ", (DOCS / page).read_text(encoding="utf-8")):
        linked = re.findall(r"benchmarks/tables/(\w+)\.md", section)
        known = [row for name in linked for row in _rows((tables.TABLES / f"{name}.md").read_text("utf-8"))]
        for name, *cells in _rows(section) if linked else ():
            numbers = [cell for cell in cells if NUMBER.fullmatch(cell)]
            allowed = {cell for other, *values in known if other == name for cell in values}
            assert not set(numbers) - allowed, f"{page}: {name}: {set(numbers) - allowed} is in no table"
            checked += len(numbers)
    assert checked > 30


def _rows(text: str) -> list[list[str]]:
    """The rows of all Markdown tables, without marks of emphasis, code and escaping."""
    lines = (line for line in text.splitlines() if line.startswith("|") and not line.startswith("| ---"))
    return [[re.sub(r"[*`\\]", "", cell).strip() for cell in line.strip("|").split("|")] for line in lines]
