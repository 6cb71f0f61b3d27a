"""Small studies, and a language model that says what it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from helpers import tiny_corpus
from rationalize.files import json_line
from rationalize.ratings.prepare_study import StudyPlan, prepare_study
from rationalize.ratings.study import Study, open_study

GOOD = '{"usefulness": 4, "completeness": 3, "fluency": 5}'


def write_predictions(path: Path, n: int = 6, first_word: int = 0, **changes: Any) -> Path:
    """Predictions that select two words from the given one on; ids and texts as in the tiny corpus."""
    rows = []
    for example in tiny_corpus(n):
        words = example.text.split()
        start = example.text.index(words[first_word])
        end = start + len(" ".join(words[first_word : first_word + 2]))
        row = {"id": example.id, "text": example.text, "label": example.label, "spans": [[start, end]]}
        rows.append(json_line({**row, **changes}))
    path.write_text("".join(rows), encoding="utf-8")
    return path


def plan(folder: Path, n: int = 6, **changes: Any) -> StudyPlan:
    """A study of two models' predictions on `n` examples."""
    files = {
        name: write_predictions(folder / f"{name}.jsonl", n, word)
        for word, name in enumerate(("ours", "theirs"))
    }
    given = {"models": {}, "predictions": files, "data": None, "split": "test", "samples": n, "seed": 0}
    return StudyPlan(**{**given, "out": folder / "study", **changes})


def small_study(folder: Path, n: int = 6) -> Study:
    """A study of two models, `n` examples each."""
    prepare_study(plan(folder, n))
    return open_study(folder / "study")


Reply = tuple[int, str] | tuple[int, str, dict[str, str]]
"""Status (0: hang up), content of the answer (the whole body unless the status is 200), headers."""


class FakeModel:
    """An endpoint that gives the next of its replies, the last one for ever, and remembers what it was asked."""

    def __init__(self, *replies: Reply | Callable[[dict[str, Any]], Reply]) -> None:
        self.replies = list(replies)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.base_url = ""

    def reply(self, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        self.asked.append(body)
        self.headers.append(headers)
        chosen = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return chosen(body) if callable(chosen) else chosen


@contextmanager
def serving(model: FakeModel) -> Iterator[FakeModel]:
    """Serve the fake model on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, content, *more = model.reply(body, dict(self.headers))
            if status == 0:
                return
            text = content
            if status == 200:
                text = json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]})
            self.send_response(status)
            for name, value in (more[0] if more else {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        model.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
