from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

import rationalize
from rating_studies import GOOD, FakeModel, serving, write_predictions
from rationalize.cli.main import app
from rationalize.errors import ConfigError, DataError
from rationalize.ratings.rating_store import RatingStore
from rationalize.ratings.study import open_study


def run(*arguments, **options):
    return CliRunner().invoke(app, ["rate", *(str(each) for each in arguments)], **options)


@pytest.fixture
def study(tmp_path):
    files = [
        write_predictions(tmp_path / f"{name}.jsonl", 3, word) for word, name in enumerate(("ours", "theirs"))
    ]
    given = [each for file in files for each in ("--predictions", f"{file.stem}={file}")]
    result = run("prepare", *given, "--out", tmp_path / "study", "--samples", 3, "--json")
    assert json.loads(result.stdout)["items"] == 6
    return tmp_path / "study"


def llm(study, model, *more):
    return run("llm", study, "--base-url", model.base_url, "--model", "fake", *more)


def test_from_rating_to_report(study, tmp_path):
    with serving(FakeModel((200, GOOD))) as model:
        result = llm(study, model, "--yes", "--json")
    assert (result.exit_code, json.loads(result.stdout)["rated"]) == (0, 6)
    store = RatingStore(open_study(study))
    for item in open_study(study).items:
        store.save(item.id, "anna <b>", {"usefulness": 4, "completeness": 2, "fluency": 5})
    result = run("report", study, "--report", tmp_path / "report.html", "--json")
    report = json.loads(result.stdout)
    assert report["raters"] == {"anna <b>": 6, "llm:fake": 6}
    assert {each["mean"] for each in report["scores"] if each["question"] == "usefulness"} == {4}
    assert "interval" in report["alpha_kind"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "anna &lt;b&gt;" in page
    assert "<b>" not in page
    shown = run("report", study).stdout
    assert "ours" in shown
    assert "4.00 ± 0.00" in shown
    assert "people and llm:fake" in shown


def test_nothing_rated_yet(study):
    error = run("report", study).exception
    assert isinstance(error, DataError)
    assert "nothing has been rated yet" in str(error)


def test_the_key_may_lie_elsewhere(study, tmp_path):
    RatingStore(open_study(study)).save("item-1", "anna", {"fluency": 4})
    (study / "key.json").rename(tmp_path / "elsewhere.json")
    assert isinstance(run("report", study).exception, DataError)
    assert run("report", study, "--key", tmp_path / "elsewhere.json").exit_code == 0


def test_nothing_is_sent_unasked(study):
    with serving(FakeModel((200, GOOD))) as model:
        dry = llm(study, model, "--dry-run", "--json", "--price-in", 1)
        assert json.loads(dry.stdout)["calls"] == 6
        for answer in ("n\n", ""):
            refused = run("llm", study, "--base-url", model.base_url, "--model", "fake", input=answer)
            assert isinstance(refused.exception, ConfigError)
            assert "6 calls" in refused.output
        assert model.asked == []
        accepted = run("llm", study, "--base-url", model.base_url, "--model", "fake", input="y\n")
        assert (accepted.exit_code, len(model.asked)) == (0, 6)


def test_failed_items_end_with_code_2_and_how_to_go_on(study):
    with serving(FakeModel((200, "no"), (200, "no"), (200, GOOD))) as model:
        result = llm(study, model, "--yes")
        assert result.exit_code == 2
        assert "5 rated, 0 rated before, 1 failed" in result.output
        assert "Run the same command again" in result.output
        assert llm(study, model, "--yes").exit_code == 0


def test_every_verb_has_an_example():
    for verb in ("prepare", "human", "llm", "report"):
        assert f"Example: rationalize rate {verb}" in " ".join(
            run(verb, "--help").stdout.replace("│", "").split()
        )


@pytest.mark.slow
def test_people_rate_until_they_stop(study):
    # A process started in the background ignores Ctrl-C; the child must not inherit that.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heed}; from rationalize.cli.main import main; main()"
    arguments = ["rate", "human", str(study), "--rater", "anna", "--no-browser"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(rationalize.__file__).parents[1]),
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        address = urlsplit(process.stdout.readline().split()[-1])
        assert isinstance(run("human", study, "--rater", "anna", "--no-browser").exception, ConfigError)
        connection = HTTPConnection(address.hostname, address.port, timeout=30)
        key = address.query.removeprefix("key=")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        body = json.dumps({"item": "item-1", "question": "fluency", "grade": 3})
        connection.request("POST", "/rate", body, headers)
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert (process.wait(60), "anna has rated 0 of 6 items" in rest) == (0, True)
    assert RatingStore(open_study(study)).read_grades("anna") == {"item-1": {"fluency": 3}}


def test_another_temperature_is_another_rater(study):
    with serving(FakeModel((200, GOOD))) as model:
        for more in ((), ("--temperature", 0.7), ("--temperature", -1), ("--temperature", 0.7)):
            assert llm(study, model, "--yes", *more).exit_code == 0
        assert len(model.asked) == 3 * 6
    raters = json.loads(run("report", study, "--json").stdout)["raters"]
    assert set(raters) == {"llm:fake", "llm:fake (temperature 0.7)", "llm:fake (its own temperature)"}
