"""A real browser before a real studio: Playwright drives the system's Chromium. `make test-browser` runs these."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import rationalize
from rationalize.data.jsonl import write_jsonl

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE_MS = 60_000  # only a broken page takes as long
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(rationalize.__file__).parents[1]),
    "PYTHONUNBUFFERED": "1",
    "OMP_NUM_THREADS": "1",
}


@pytest.fixture(scope="session")
def chromium():
    """The browser; tests are skipped without it."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Served:
    """A running studio."""

    def __init__(self, data: Path, out: Path, *words: str) -> None:
        self.out = out
        self.command = [
            sys.executable, "-c", "from rationalize.cli.main import main; main()", "studio", str(data),
            "--out", str(out), "--no-browser", *words,
        ]  # fmt: skip
        self.start("0")

    def start(self, port: str) -> None:
        self.process = subprocess.Popen(
            [*self.command, "--port", port], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
        )
        line = self.process.stdout.readline()
        assert line.startswith("Studio: http"), line
        self.url = line.split()[1]
        self.base = self.url.partition("/?")[0]

    def stop(self, sign=signal.SIGTERM) -> None:
        self.process.send_signal(sign)
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture
def serve(tmp_path):
    """Starts studios on examples, and stops them."""
    started = []

    def start(examples, *words):
        data = tmp_path / "reviews.jsonl"
        write_jsonl(data, examples)
        started.append(Served(data, tmp_path / "studio", *words))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.stop()


def is_error(message) -> bool:
    """Whether something went wrong, other than that a studio was stopped on purpose."""
    return message.type == "error" and "net::ERR_" not in message.text


@pytest.fixture
def visit(chromium):
    """Opens a page for a person, each in a browser of their own; a script error fails the test."""
    contexts, errors = [], []

    def open_page(studio, person, **options):
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, **options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if is_error(message) else None)
        page.goto(studio.url)
        page.fill("#name", person)
        page.keyboard.press("Enter")
        page.wait_for_url("**/annotate/*")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
