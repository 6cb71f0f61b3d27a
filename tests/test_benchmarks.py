"""Benchmarks reach into the code; they have to keep running. And what the pages claim is what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from benchmarks import bag_of_words, tables
from benchmarks.speed import __main__ as speed
from benchmarks.speed import asking, clock, hf_trainer, machine, page
from benchmarks.speed.answer import Answer, Row, read_answer, write_answer
from benchmarks.speed.children import measure_alone
from benchmarks.speed.clock import Timing
from benchmarks.speed.corpora import load_corpus
from benchmarks.speed.growth import fit_exponent
from benchmarks.speed.models import configure
from benchmarks.speed.stepping import make_trainer

from helpers import tiny_corpus
from rationalize.data.jsonl import to_row

DOCS = Path(__file__).parents[1] / "docs"
SLOW_PLANS = {"efficiency", "planted", "real", "ssr", "ssr_options"}
NUMBER = re.compile(r"[-+−]?[\d.]+(?: ± [\d.]+)?(?: s)?")


def measured(question="explain-short"):
    timing = Timing((2.0, 4.0, 3.0), (1.0, 2.0, 1.5))
    rows = (
        Row("plain <label>", {"ratio": 1.0, "cpu_ms": 1.5}, timing),
        Row("explain, 2 of 6 layers", {"ratio": 0.5}, timing, extrapolated=True),
    )
    return Answer(
        question, "Short", {"ratio": "times", "cpu_ms": "ms", "n": "texts"}, rows, ("Why.",), "ratio"
    )


FACTS = {
    "processor": "x",
    "command": "python -m benchmarks.speed",
    "date": "2000-01-01",
    "load at the start": "1",
}


def test_rounds_take_turns_and_ratios_are_those_of_a_round():
    order: list[str] = []
    found = clock.take_turns({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert order == ["a", "b", "b", "a"]
    assert len(found["a"].wall) == 2
    slow, fast = Timing((0,) * 3, (2.0, 9.0, 3.0)), Timing((0,) * 3, (1.0, 3.0, 1.5))
    assert slow.ratio_to(fast) == 2.0
    assert slow.spread == pytest.approx(7 / 3)


def test_an_answer_is_kept_and_shown_with_its_command(tmp_path):
    write_answer(measured(), tmp_path, FACTS)
    kept = read_answer(tmp_path / "explain-short.json")
    assert kept == (measured(), FACTS)
    (tmp_path / "page.md").write_text(f"# Page\n\nBefore.\n\n{page.START}\nold\n{page.END}\n\nAfter.\n")
    page.write_page([kept], tmp_path / "page.md", tmp_path / "figures")
    written = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert written.startswith("# Page\n\nBefore.")
    assert written.endswith("After.\n")
    assert "old" not in written
    assert "| explain, 2 of 6 layers * | 0.50 |  |" in written
    assert "texts" not in written  # a column without numbers
    assert "python -m benchmarks.speed" in written
    drawn = (tmp_path / "figures/speed-explain-short.svg").read_text(encoding="utf-8")
    assert "plain &lt;label&gt;" in drawn


def test_what_is_answered_is_not_measured_again(tmp_path, monkeypatch, capsys):
    write_answer(measured(), tmp_path, FACTS)
    arguments = ["explain-short", "--out", str(tmp_path), "--page", str(tmp_path / "page.md")]
    monkeypatch.setattr("sys.argv", ["speed", *arguments, "--figures", str(tmp_path), "--data", "/somewhere"])
    speed.main()
    assert capsys.readouterr().out == "explain-short: answered already\n"
    assert "### Short" in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert asking._describe_command("python -m benchmarks.speed").endswith("--data DATA")


def test_the_page_shows_the_committed_answers(tmp_path):
    kept = [read_answer(path) for path in speed.ANSWERS.glob("*.json")]
    shown = (DOCS / "performance.md").read_text(encoding="utf-8")
    for answer, _ in kept:
        assert page.write_table(answer) in shown, (
            f"{answer.question}: run python -m benchmarks.speed --page-only"
        )
        figure = DOCS / "figures" / f"speed-{answer.question}.svg"
        assert figure.read_text(encoding="utf-8") == page.draw_bars(answer)
    assert kept


def test_a_power_law_is_found():
    assert fit_exponent({10: 3 * 10**1.5, 1000: 3 * 1000**1.5, 100: 3 * 100**1.5}) == pytest.approx(1.5)


def keep_and_drop(megabytes):
    return lambda: len(bytearray(megabytes * 2**20))


def test_memory_is_what_an_action_adds_whatever_was_there_before():
    own = bytearray(300 * 2**20)
    cost = measure_alone(keep_and_drop, 64)
    assert len(own) > 0
    assert 60 < cost.megabytes < 120
    assert cost.peak > cost.megabytes


@pytest.mark.skipif(not machine.CLEAR.is_file(), reason="the kernel cannot forget a peak")
def test_a_peak_can_be_forgotten():
    keep_and_drop(300)()
    before = machine.peak_megabytes()
    machine.forget_peak()
    assert machine.peak_megabytes() < before - 100


def test_scoring_dev_belongs_to_a_training():
    steps, dev = Timing((8.0, 16.0), (4.0, 8.0)), Timing((8.0, 8.0), (4.0, 4.0))
    found = hf_trainer.add_scoring(steps, 8, dev, 4)
    assert found.wall == (1 + 2 / 8, 2 + 2 / 8)
    assert found.cpu == (0.5 + 1 / 8, 1 + 1 / 8)


def test_a_part_of_an_epoch_has_every_phase():
    config = configure("semi_rat", "tiny", 64, data={"gold_share": 0.25}, training={"batch_size": 4})
    trainer, rows = make_trainer(config, load_corpus("tweets", None, 32).examples)
    hf_trainer.train_part(trainer, 16)
    assert len(rows) == 32
    made = []
    trainer._run_batch = lambda phase, batch, total: made.append((phase.name, len(batch)))
    hf_trainer.train_part(trainer, 16)
    assert made == [("supervised", 4)] + 3 * [("unsupervised", 4)]


def test_a_stand_in_has_the_length_that_is_wanted_and_gold_inside(tmp_path):
    corpus = load_corpus("tweets", tmp_path, 6)
    assert [len(each.text.split(" ")) for each in corpus.examples] == [14] * 6
    assert all(span.end <= len(each.text) for each in corpus.examples for span in each.rationale)


@pytest.mark.slow
def test_the_speed_benchmark_runs_to_its_end(tmp_path, monkeypatch):
    pytest.importorskip("captum"), pytest.importorskip("shap"), pytest.importorskip("lime")
    places = {"--out": tmp_path, "--page": tmp_path / "page.md", "--figures": tmp_path, "--data": tmp_path}
    places["--models"] = tmp_path / "models"
    given = [str(word) for pair in places.items() for word in pair]
    monkeypatch.setattr("sys.argv", ["speed", "--encoder", "tiny", "--texts", "20", *given])
    speed.main()
    assert len(list(tmp_path.glob("*.json"))) == len(list(tmp_path.glob("*.svg"))) == 8


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
