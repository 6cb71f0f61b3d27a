"""`rationalize serve`: refusals before anything is loaded, and a real service from start to SIGTERM."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest
from serving_helpers import PATIENCE, get, post, wait_until
from typer.testing import CliRunner

from doc_blocks import PAGES, blocks_of
from helpers import tiny_corpus
from rationalize.cli.main import app, find_flags
from rationalize.cli.serve import name_models
from rationalize.errors import ConfigError
from rationalize.serving.serve_settings import ServeLimits

COMMAND = [sys.executable, "-c", "from rationalize.cli.main import main; main()", "serve"]


def refusal(*args):
    done = CliRunner().invoke(app, ["serve", *map(str, args)])
    assert isinstance(done.exception, ConfigError), done.output
    return str(done.exception)


def test_without_its_packages_it_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    for name in [name for name in sys.modules if name.startswith("rationalize.serving")]:
        monkeypatch.delitem(sys.modules, name)
    said = refusal(folder)
    assert "fastapi is missing" in said
    assert "pip install 'rationalize[serve]'" in said


def test_an_address_that_others_reach_needs_a_key(folder, monkeypatch):
    monkeypatch.delenv("RATIONALIZE_API_KEY", raising=False)
    words = ["serve", str(folder), "--host", "0.0.0.0"]
    with pytest.raises(ConfigError, match=r"api_key is not set.* RATIONALIZE_API_KEY") as error:
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert find_flags(error.value, words) == ["--host", "--api-key-file"]


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ("queue_texts", "--limit queue_texts: expected NAME=NUMBER"),
        ("queue_texts=many", "--limit queue_texts=many: expected NAME=NUMBER"),
        ("queue_texts=0", "limits.queue_texts: Input should be greater than 0"),
        ("queue=1", "limits.queue: unknown. Known here: batch_chars, batch_texts, body_bytes"),
        ("call_texts=1000", "a full call would never fit"),
    ],
)
def test_wrong_limits_are_refused(folder, limit, says):
    assert says in refusal(folder, "--limit", limit)


@pytest.mark.parametrize("sure", ["1.5", "POS=1.5"])
def test_a_confidence_that_is_no_share_is_refused(folder, sure):
    number = sure.rpartition("=")[2]
    assert f"min_confidence: saw {number}, expected 0 to 1." in refusal(folder, "--min-confidence", sure)


def test_a_device_that_is_not_there_is_refused(folder):
    assert "device: 'cuda:99' is not available" in refusal(folder, "--device", "cuda:99")


def test_a_port_in_use_is_refused(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = refusal(folder, "--port", taken.getsockname()[1])
    assert "Expected a free port" in said


def test_models_are_named_after_their_folders_or_as_given(tmp_path):
    for path in ("runs/movies/model", "runs/hotel", "a=b"):
        (tmp_path / path).mkdir(parents=True)
    runs = tmp_path / "runs"
    found = name_models([f"{runs}/movies/model", f"{runs}/hotel", f"mine={runs}/hotel"])
    assert list(found) == ["movies", "hotel", "mine"]
    assert found["mine"] == runs / "hotel"
    with pytest.raises(ConfigError, match="'hotel' is used twice"):
        name_models([f"{runs}/hotel", f"{runs}/hotel"])
    with pytest.raises(ConfigError, match="no such folder"):
        name_models([f"{runs}/absent"])
    with pytest.raises(ConfigError, match="'<b>' is not usable"):
        name_models([f"<b>={runs}/hotel"])


@pytest.fixture(scope="module")
def service(folder):
    """The process of a real service that reads texts one by one, and its address."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("RATIONALIZE_API_KEY", None)
    limits = ["--limit", "batch_texts=1", "--limit", f"request_seconds={PATIENCE}"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        [*COMMAND, str(folder), "--port", "0", *limits], env=environment, **pipes
    ) as process:
        try:
            line = process.stdout.readline()
            address = re.fullmatch(r"Serving movies at (http://127\.0\.0\.1:\d+)\n", line)[1]
            wait_until(lambda: get(address, "/readyz")[0] == 200, every=0.2)
            yield process, address
        finally:
            process.kill()


def doc_blocks(*words):
    """Blocks of the page that hold all these words."""
    return [block for block in blocks_of("docs/serving.md") if all(word in block.text for word in words)]


def test_calls_of_the_page_are_answered(service, capsys):
    _, address = service
    if shutil.which("curl") is None:
        pytest.skip("there is no curl here")
    (block,) = doc_blocks("curl", "/v1/explain")
    calls = block.text.replace("http://127.0.0.1:8000", address).replace("curl ", "curl -sS --fail ")
    done = subprocess.run(
        ["bash", "-ec", calls], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    decoder, found, rest = json.JSONDecoder(), [], done.stdout
    while rest:
        answer, end = decoder.raw_decode(rest)
        found.append(answer)
        rest = rest[end:]
    explained, predicted, models = found
    assert explained["explanations"][0]["query"] == "is it a good film ?"
    assert len(predicted["predictions"]) == 2
    assert models["models"][0]["name"] == "movies"
    (block,) = doc_blocks("urlopen")
    exec(compile(block.text.replace("http://127.0.0.1:8000", address), block.place, "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_commands_of_the_page_are_taken(folder, tmp_path, monkeypatch):
    from rationalize.serving import run_service

    started = []
    monkeypatch.setattr(
        run_service, "run_service", lambda settings, models, announce: started.append((settings, models))
    )
    monkeypatch.delenv("RATIONALIZE_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("movies", "ssr", "base"):
        shutil.copytree(folder, tmp_path / "runs" / name)
    (tmp_path / "api-key.txt").write_text("0123456789abcdef\n")
    for block in doc_blocks("rationalize serve"):
        for command in block.text.splitlines():
            done = CliRunner().invoke(app, command.split()[1:], catch_exceptions=False)
            assert done.exit_code == 0, done.output
    assert [list(models) for _, models in started] == [["movies"], ["movies", "base"], ["movies"], ["movies"]]
    assert (started[1][0].port, started[1][0].limits.text_chars) == (9000, 10_000)
    assert started[2][0].api_key.get_secret_value() == "0123456789abcdef"
    assert [settings.workers for settings, _ in started] == [1, 1, 1, 2]


def test_limits_of_the_page_are_the_defaults():
    page = PAGES["docs/serving.md"].read_text(encoding="utf-8")
    shown = {}
    for names, values in re.findall(r"(?m)^\| (`\w+`[^|]*) \| ([\d, ]+) \|", page):
        shown |= dict(zip(re.findall(r"`(\w+)`", names), map(float, values.split(",")), strict=True))
    assert shown == ServeLimits().model_dump()


def test_sigterm_lets_open_requests_finish(service):
    """A call of many long texts is under way and its last texts still wait when the signal comes."""
    process, address = service
    text = " ".join(example.text for example in tiny_corpus(40))
    answers = []
    caller = threading.Thread(target=lambda: answers.append(post(address, {"texts": [text] * 60})))
    caller.start()
    waiting = re.compile(r'rationalize_queue_texts{model="movies"} [1-9]')
    wait_until(lambda: waiting.search(get(address, "/metrics")[1]))
    process.send_signal(signal.SIGTERM)
    caller.join(PATIENCE)
    assert len(answers[0]["explanations"]) == 60
    assert process.wait(PATIENCE) == 0
    with pytest.raises(urllib.error.URLError):
        get(address, "/healthz")
    log = process.stderr.read()
    assert "POST /v1/explain 200" in log
    assert "gripping" not in log
    assert "Traceback" not in log
