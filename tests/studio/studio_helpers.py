"""A studio on small data with a model that does as it is told, and a browser without a network."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.serving.serve_settings import ServeSettings
from rationalize.serving.served_model import ModelFacts
from rationalize.studio._gate import Keys
from rationalize.studio.pool import make_pool
from rationalize.studio.studio_app import create_studio
from rationalize.studio.workshop import Studio
from rationalize.text.words import word_spans
from rationalize.types import Example, Explanation, Span

BASE = "http://127.0.0.1:8010"
KEY = "k" * 24
RUNNER = (sys.executable, "-m", "rationalize.cli.studio_job")
PATIENCE = 90  # seconds; only a broken studio takes as long

EMOJI = "🎬 what a 👩‍👩‍👧 joy 🎉 of a film , cafe\u0301 scenes included"
MARKUP = "<script>alert(1)</script> & <b>bold</b>"
TEXTS = (
    Example("a", "a truly gripping story", "POS", rationale=(Span(2, 16),)),
    Example("b", "wooden acting all over", "NEG", rationale=(Span(0, 6),)),
    Example("c", EMOJI, "POS"),
    Example("d", MARKUP, "NEG"),
    Example("e", "第一 幕 很 好", "POS"),
    Example("f", "dull dull dull", "NEG"),
)


class FirstWord:
    """Selects the first word. Unsure about texts with `unsure` in them; the others are POS."""

    facts = ModelFacts("stub", True, ("NEG", "POS"), "none", 64, True, "0")

    def explain(self, examples, *, truncate):
        return [self._explain(example) for example in examples]

    def predict(self, examples, *, truncate):
        return [{"NEG": 0.1, "POS": 0.9} for _ in examples]

    def _explain(self, example):
        words = tuple(word_spans(example.text))
        selected = tuple(index == 0 for index in range(len(words)))
        sure = 0.55 if "dull" in example.text else 0.9
        chances = {"NEG": 1 - sure, "POS": sure}
        scores = tuple(float(each) for each in selected)
        return Explanation(
            example.text, "POS", chances, words[:1], words, scores, selected, True, "stub", example.query,
            from_full_text=chances, from_rationale=chances, id=example.id,
        )  # fmt: skip


def make_studio(folder: Path, examples=TEXTS, models=("stub",), **others) -> Studio:
    folder.mkdir(parents=True, exist_ok=True)
    data = read_data({"train": list(examples)}, ReadOptions())
    return Studio(
        folder,
        make_pool(data),
        ServeSettings(),
        models={name: Path(name) for name in models},
        runner=RUNNER,
        load=lambda path, device: FirstWord(),
        **others,
    )


class Browser:
    """Asks as a page of the studio would, unless told otherwise."""

    def __init__(self, app, person="anna"):
        self.keys: Keys = app.state.shell.keys
        self.client = TestClient(app, BASE, follow_redirects=False)
        self.client.cookies.set(self.keys.cookie, self.keys.key.get_secret_value())
        self.headers = {"Origin": BASE, "X-Studio-Token": self.keys.token}
        if person:
            self.client.cookies.set(self.keys.person_cookie, person)

    def get(self, path, **headers):
        return self.client.get(path, headers={"Accept": "text/html", **headers})

    def post(self, path, body=None, **headers):
        given = {name: value for name, value in (self.headers | headers).items() if value is not None}
        return self.client.post(path, json={} if body is None else body, headers=given)

    def save(self, number, words=(), state="done", label="POS", note="", change=0):
        body = {"words": list(words), "label": label, "note": note, "state": state, "change": change}
        return self.post(f"/annotate/{number}", body)


@contextmanager
def running(studio: Studio):
    """The running application, with all models ready and all texts read."""
    app = create_studio(studio, KEY)
    with TestClient(app, BASE):
        wait_until(lambda: all(each.state != "loading" for each in studio.service.workers.values()))
        yield app
    studio.close()


def wait_until(condition, every: float = 0.01) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(every)
