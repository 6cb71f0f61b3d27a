"""The benchmark of what grows keeps running, and its page says what it extrapolates from."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.scale import __main__ as scale
from benchmarks.scale.measuring import Load, describe
from benchmarks.scale.plans import END, START, plan_comparison, plan_corpus, write_plans
from benchmarks.scale.texts import make_texts
from benchmarks.speed.answer import Answer, Row

from rationalize.data.dataset import list_labels


def test_texts_have_labels_and_hardly_repeat():
    texts = list(make_texts(300))
    assert len(list_labels(texts)) == 2
    assert len({each.text for each in texts}) == 300
    assert texts == list(make_texts(300))


def test_growth_is_that_of_time_and_of_memory():
    loads = {100: Load(1.0, 1.0, 200.0, 0.0, {}), 10_000: Load(100.0, 90.0, 210.0, 50.0, {"recall": 0.9})}
    first, last = describe("audit", loads)
    assert "exponent" not in first.numbers
    assert last.numbers["exponent"] == pytest.approx(1.0)
    assert last.numbers["memory_ratio"] == pytest.approx(1.05)
    assert (last.numbers["worker_mb"], last.numbers["recall"]) == (50.0, 0.9)


def test_plans_name_their_measurement(tmp_path):
    loads = {10_000: Load(60.0, 100.0, 400.0, 0.0, {}), 1_000_000: Load(6_000.0, 9_000.0, 440.0, 0.0, {})}
    audit = Answer("audit", "Audit", {}, tuple(describe("audit, 2 workers", loads)), (), "wall_s")
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{START}\nold\n{END}\nAfter.\n", encoding="utf-8")
    write_plans({"audit": audit}, page)
    written = page.read_text(encoding="utf-8")
    assert written.startswith("# Page")
    assert written.endswith("After.\n")
    assert "old" not in written
    assert "| 166.7 hours | audit, 2 workers: 1,000,000: 6000 s ×" in written
    assert "An encoder of 7 billion weights" in written


def test_plans_expect_no_saving_beyond_what_was_measured():
    """Start-up makes small runs look dear; a line through them is flatter than what a large run costs."""
    loads = {10_000: Load(60.0, 100.0, 400.0, 0.0, {}), 1_000_000: Load(3_600.0, 9_000.0, 440.0, 0.0, {})}
    audit = Answer("audit", "Audit", {}, tuple(describe("audit, 2 workers", loads)), (), "wall_s")
    time = next(iter(plan_corpus({"audit": audit}, {})))
    assert time.figure == "100.0 hours"


def test_plans_take_the_rate_of_a_core_from_texts_that_fill_the_length():
    """Steps of short texts read less than their batch could hold."""

    def answer(name: str, seconds: float) -> Answer:
        row = Row("un_rat, mix, 6 layers", {"cpu_s": seconds})
        notes = ("1 batches of 4 texts, at most 512 pieces, encoder minilm.",)
        return Answer(f"steps-{name}", f"Training steps: {name}", {}, (row,), notes, "cpu_s")

    speed = {f"steps-{name}": answer(name, seconds) for name, seconds in (("fever", 1.0), ("movies", 4.0))}
    rate = next(iter(plan_comparison(speed)))
    assert rate.figure == f"{2 * 3 * 2 * 10.6e6 * 4 * 512 / 4.0 / 1e9:.0f} billion operations per second"
    assert "Training steps: movies" in rate.source
    assert "4 texts × 512 pieces" in rate.source


def test_every_figure_of_the_page_says_what_it_comes_from():
    page = Path(scale.__file__).parents[2] / "docs" / "scale.md"
    plans = page.read_text(encoding="utf-8").split(START)[1].split(END)[0]
    rows = [line.strip("| ").split(" | ") for line in plans.splitlines() if line.startswith("| ")]
    figures = [row for row in rows if row[0] and row[1:2] != ["---:"] and row[0] != "figure"]
    assert len(figures) > 10
    told = (
        "explain,",
        "audit,",
        "data check:",
        "performance,",
        "the same",
        "above",
        "assumed",
        "by construction",
    )
    assert [row[0] for row in figures if not any(source in row[-1] for source in told)] == []


@pytest.mark.slow
def test_the_benchmark_runs_to_its_end_and_measures_nothing_twice(tmp_path, monkeypatch, capsys):
    places = {"--out": tmp_path, "--page": tmp_path / "page.md", "--figures": tmp_path}
    given = [str(word) for pair in places.items() for word in pair]
    monkeypatch.setattr("sys.argv", ["scale", "--sizes", "60", "600", *given])
    scale.main()
    assert len(list(tmp_path.glob("*.json"))) == len(list(tmp_path.glob("*.svg"))) == len(scale.QUESTIONS)
    capsys.readouterr()
    scale.main()
    assert capsys.readouterr().out.count("answered already") == len(scale.QUESTIONS)
