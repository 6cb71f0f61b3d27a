"""Training and auditing from the page; the processes themselves are replaced by what they leave behind."""

from __future__ import annotations

import json

import pytest
from studio_helpers import KEY, Browser, make_studio, running, wait_until

from helpers import tiny_corpus, tiny_run
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.files import write_json
from rationalize.studio._jobs import Job
from rationalize.studio.studio_app import create_studio


@pytest.fixture
def started(monkeypatch):
    """The commands that would have been run."""
    commands = []
    monkeypatch.setattr(Job, "start", lambda self, words: commands.append((self.folder, list(words))))
    return commands


@pytest.fixture
def studio(tmp_path):
    studio = make_studio(tmp_path / "studio", tiny_corpus(40), models=())
    yield studio
    studio.close()


@pytest.fixture
def browser(studio):
    return Browser(create_studio(studio, KEY))


def train(browser, **choice):
    return browser.post(
        "/train/start", {"method": "semi_rat", "preset": "planted", "gold_share": 0.5} | choice
    )


def test_a_run_learns_from_what_is_annotated(browser, studio, started):
    browser.save(1, [0, 1], label="NEG")
    browser.save(2, [2], label="NEG")  # the data say POS
    assert train(browser).json() == {"name": "run-1"}
    ((folder, words),) = started
    assert words[:3] == ["train", "--data", str(folder / "data")]
    assert words[3:5] == ["--method", "semi_rat"]
    assert "data.gold_share=0.5" in words
    assert not [word for word in words if word.startswith("shortcuts.source")]
    examples = read_data(folder / "data", ReadOptions())["train"]
    assert {each.id: each.label for each in examples}["r1"] == "NEG"
    assert [each.id for each in examples if each.rationale is not None] == ["r0", "r1"]
    assert all(each.shortcuts is None for each in examples)


def test_gold_of_the_data_is_used_if_asked_for(browser, studio, started):
    browser.save(1, [0])
    train(browser, own_gold=True)
    examples = read_data(started[0][0] / "data", ReadOptions())["train"]
    assert all(each.rationale for each in examples)
    assert examples[0].rationale != studio.pool[1].rationale


def test_what_cannot_work_is_refused_at_once(browser, started):
    answer = train(browser)
    assert answer.status_code == 422
    assert "learns from gold rationales" in answer.json()["error"]["what"]
    assert "unknown" in train(browser, method="no_such").json()["error"]["what"]
    assert "unknown" in train(browser, preset="no_such").json()["error"]["what"]
    assert train(browser, epochs=0).status_code == 422
    assert started == []


def test_one_run_at_a_time(browser, studio, started, monkeypatch):
    train(browser, method="un_rat")
    monkeypatch.setattr(Job, "is_alive", True)
    assert "still training" in train(browser, method="un_rat").json()["error"]["what"]
    assert len(started) == 1


def test_a_stopped_run_goes_on_where_it_was(browser, studio, started):
    train(browser, method="un_rat")
    folder, words = started.pop()
    row = {"words": words, "process": 0, "started": 0.0, "stopped": True}
    write_json(folder / "job.json", row)
    browser.post("/train/run-1/resume")
    assert started.pop() == (folder, words)  # stopped before its first step
    write_json(folder / "run/run.json", make_record())
    browser.post("/train/run-1/resume")
    assert started.pop()[1] == ["train", "--resume", str(folder / "run"), "--json"]
    assert "resume" in browser.get("/train").text
    assert browser.post("/train/run-9/resume").status_code == 404


def make_record(**facts):
    record = {
        "config": tiny_run().model_dump(mode="json"),
        "data": "x",
        "finished": False,
        "extended_from": [],
    }
    return record | facts


def finish(studio, name):
    """Leave behind what a finished run does."""
    folder = studio.folder / "runs" / name
    write_json(folder / "choice.json", {"method": "un_rat", "about": "40 texts"})
    write_json(folder / "run/run.json", make_record(finished=True))
    (folder / "run/model").mkdir()


@pytest.mark.slow  # trains twice
def test_a_finished_run_gives_the_suggestions_from_then_on(tmp_path):
    studio = make_studio(tmp_path, tiny_corpus(4))
    with running(studio) as app:
        browser = Browser(app)
        assert studio.suggesting == "stub"
        finish(studio, "run-1")
        wait_until(lambda: studio.suggesting == "run-1")
        wait_until(lambda: studio.service.workers["run-1"].state == "ready")
        assert browser.get("/annotate/1/suggestion").json()["label"] == "POS"
        assert browser.post("/models/stub/use").status_code == 200
        assert studio.suggesting == "stub"
        assert browser.post("/models/none/use").status_code == 422
        finish(studio, "run-2")
        wait_until(lambda: studio.suggesting == "run-2")
    again = make_studio(tmp_path, tiny_corpus(4))
    with running(again):
        assert (list(again.service.workers), again.suggesting) == (["stub", "run-2"], "run-2")
        assert again.list_models() == ["stub", "run-2", "run-1"]


FOUND = {
    "verdict": "1 fixed phrase correlates with a label.",
    "caution": "A person must judge.",
    "suspected": [
        {
            "words": "released in winter",
            "pattern": "released in winter",
            "label": "NEG",
            "documents": 20,
            "share": 1.0,
            "lift": 2.0,
            "contexts": [
                {
                    "id": "r0",
                    "label": "NEG",
                    "text": "released in <b>winter",
                    "shortcuts": [[0, 11]],
                    "gold": [],
                }
            ],
        }
    ],
}


def test_a_confirmed_phrase_becomes_a_known_shortcut(browser, studio, started):
    assert browser.post("/audit/start").status_code == 200
    folder, words = started.pop()
    assert words == [
        "shortcuts",
        "audit",
        str(folder / "data"),
        "--split",
        "train",
        "--no-semantic",
        "--json",
    ]
    write_json(folder / "result.txt", FOUND)
    page = browser.get("/audit").text
    assert "&lt;b&gt;winter" in page
    verdict = {"phrase": "released in winter", "verdict": "shortcut"}
    assert browser.post("/audit/verdict", verdict).status_code == 200
    assert browser.post("/audit/verdict", verdict | {"phrase": "another"}).status_code == 422
    assert browser.post("/audit/verdict", verdict | {"verdict": "maybe"}).status_code == 422
    assert 'class="suspect shortcut"' in browser.get("/audit").text
    gold = studio.pool.mark_words(1, studio.pool[1].rationale)
    browser.save(1, [index for index, own in enumerate(gold) if own], label="NEG")
    train(browser, method="ssr_unif")
    folder, words = started.pop()
    assert "shortcuts.source=known" in words
    for example in read_data(folder / "data", ReadOptions())["train"]:
        marked = [example.text[span.start : span.end] for span in example.shortcuts]
        assert marked == (["released in winter"] if example.label == "NEG" else [])


def test_a_verdict_can_be_taken_back(browser, studio):
    write_json(studio.folder / "audit/result.txt", FOUND)
    for verdict in ("evidence", "open"):
        browser.post("/audit/verdict", {"phrase": "released in winter", "verdict": verdict})
    assert studio.store.read_verdicts() == {}


def test_slots_of_a_phrase_match_any_word(browser, studio, started):
    row = FOUND["suspected"][0] | {"words": "shown at the", "pattern": "shown … the festival"}
    write_json(studio.folder / "audit/result.txt", FOUND | {"suspected": [row]})
    browser.post("/audit/verdict", {"phrase": "shown at the", "verdict": "shortcut"})
    train(browser, method="un_rat")
    examples = read_data(started.pop()[0] / "data", ReadOptions())["train"]
    found = {each.text[span.start : span.end] for each in examples for span in each.shortcuts}
    assert found == {"shown at the festival"}


def test_results_are_empty_before_the_first_run(browser):
    assert "No run has come to its end" in browser.get("/results").text
    assert browser.get("/results/report.html").status_code == 200


def test_labels_that_are_probably_wrong_are_listed(tmp_path):
    studio = make_studio(tmp_path)  # the stub says POS to everything, and is unsure about dull texts
    with running(studio) as app:
        wait_until(lambda: len(studio.store.list_suggested("stub")) == len(studio.pool))
        browser = Browser(app)
        rows = [json.loads(line) for line in browser.get("/results/label-suspects.jsonl").text.splitlines()]
        assert [row["id"] for row in rows] == ["b", "d", "f"]
        assert [round(row["margin"], 2) for row in rows] == [0.8, 0.8, 0.1]
        page = browser.get("/results").text
        assert 'href="/annotate/2"' in page
        assert "<script>alert" not in page
