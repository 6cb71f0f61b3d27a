"""A model that does as it is told, and ways to ask an application without a network."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import urllib.error
import urllib.request
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from httpx2 import ASGITransport, AsyncClient
from starlette.testclient import TestClient

from rationalize.serving.app import create_app
from rationalize.serving.serve_settings import ServeLimits, ServeSettings
from rationalize.serving.served_model import ModelFacts
from rationalize.text.words import word_spans
from rationalize.types import Example, Explanation

BASE = "http://127.0.0.1"
PATIENCE = 90  # seconds; only a broken service takes as long


class StubModel:
    """Selects the first word of every text. Waits for `release`, remembers its batches, fails where `fails` is in."""

    facts = ModelFacts("stub", True, ("NEG", "POS"), "none", 64, True, "0")

    def __init__(self, fails: str | None = None) -> None:
        self.fails = fails
        self.batches: list[list[str]] = []
        self.busy, self.release = threading.Event(), threading.Event()
        self.release.set()

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    def explain(self, examples, *, truncate):
        self._read(examples)
        return [explain_first_word(example) for example in examples]

    def predict(self, examples, *, truncate):
        self._read(examples)
        return [{"NEG": 0.25, "POS": 0.75} for _ in examples]

    def _read(self, examples) -> None:
        self.batches.append([example.text for example in examples])
        self.busy.set()
        assert self.release.wait(PATIENCE)
        for example in examples:
            if self.fails is not None and self.fails in example.text:
                raise RuntimeError(f"cannot read {example.text}")


def explain_first_word(example: Example) -> Explanation:
    words = tuple(word_spans(example.text))
    selected = tuple(index == 0 for index in range(len(words)))
    scores = tuple(float(each) for each in selected)
    chances = {"NEG": 0.25, "POS": 0.75}
    return Explanation(
        example.text,
        "POS",
        chances,
        words[:1],
        words,
        scores,
        selected,
        True,
        "stub",
        example.query,
        id=example.id,
    )


def stub_app(model=None, models=("stub",), api_key=None, allowed_hosts=(), **limits):
    """An application in which every model is the stub."""
    settings = ServeSettings(api_key=api_key, allowed_hosts=allowed_hosts, limits=ServeLimits(**limits))
    stub = model or StubModel()
    return create_app(settings, {name: Path(name) for name in models}, load=lambda folder, device: stub)


def wait_until(condition, every: float = 0.002) -> None:
    """Until it holds; an error if it never does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(every)


def none_loads(app) -> bool:
    return all(worker.state != "loading" for worker in app.state.service.workers.values())


@contextmanager
def asking(app, headers=None):
    """A caller of the running application, once no model is being loaded any more."""
    with TestClient(app, BASE, headers=headers) as client:
        wait_until(lambda: none_loads(app))
        yield client


@asynccontextmanager
async def asking_at_once(app):
    """The same for many callers at once."""
    async with app.router.lifespan_context(app):
        await asyncio.to_thread(wait_until, lambda: none_loads(app))
        async with AsyncClient(transport=ASGITransport(app), base_url=BASE, timeout=PATIENCE) as client:
            yield client


def error_of(answer, status):
    """What an answer that is none says, once it has the right status and form."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    error = answer.json()["error"]
    assert all(isinstance(error[name], str) and error[name] for name in ("what", "where", "expected"))
    return error


def post(address, call):
    """The answer of a service that listens at an address."""
    request = urllib.request.Request(
        f"{address}/v1/explain", json.dumps(call).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


def get(address, path):
    """Status and text of a service's page."""
    try:
        with urllib.request.urlopen(address + path, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
