"""The shortcut audit of a studio's texts, as a job of its own, with what people say about each phrase."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup

from rationalize.data.data_files import ABOUT
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import ConfigError
from rationalize.files import atomic_dir, write_json
from rationalize.reporting.layers import Layer, cut_segments
from rationalize.reporting.marks import to_html
from rationalize.studio._decisions import PhraseVerdict
from rationalize.studio._jobs import RESULT, Job, JobState
from rationalize.studio.pool import Pool
from rationalize.studio.studio_export import make_training_examples
from rationalize.studio.studio_store import StudioStore
from rationalize.text.words import PLAIN
from rationalize.types import Span


@dataclass(frozen=True, slots=True)
class SuspectContext:
    """A stretch of text around a suspected phrase."""

    label: str
    text: Markup


@dataclass(frozen=True, slots=True)
class SuspectView:
    """A suspected phrase, ready to show."""

    words: str
    pattern: str
    label: str
    documents: int
    share: float
    lift: float
    contexts: tuple[SuspectContext, ...]
    verdict: PhraseVerdict | None


@dataclass(frozen=True, slots=True)
class StudioAuditView:
    """How the audit stands, and what it has found."""

    state: JobState | None
    log: str
    summary: str
    caution: str
    suspects: tuple[SuspectView, ...]


class StudioAudit:
    """The audit of a studio, in its folder `audit`."""

    def __init__(self, folder: Path, runner: Sequence[str], pool: Pool, store: StudioStore) -> None:
        self._folder = folder
        self._pool = pool
        self._store = store
        self.job = Job(folder, runner)

    def start(self) -> None:
        """Look for shortcuts in all texts, with the rationales known now."""
        if self.job.is_alive:
            raise ConfigError("the audit is at work already. Wait for its end.")
        if not self._pool.labels:
            raise ConfigError("the texts have no labels, so nothing can reveal them. Audit labeled data.")
        given = self._store.read_all()
        examples = make_training_examples(self._pool, given, {}, own_gold=True)
        with atomic_dir(self._folder / "data") as target:
            write_jsonl(target / "train.jsonl", (each for each in examples if each.label is not None))
            if self._pool.words != PLAIN:
                write_json(target / ABOUT, {"words": self._pool.words})
        data = str(self._folder / "data")
        self.job.start(["shortcuts", "audit", data, "--split", "train", "--no-semantic", "--json"])

    def read(self) -> dict[str, Any] | None:
        """Read what the audit has found; None: nothing yet."""
        path = self._folder / RESULT
        if not path.is_file():
            return None
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def view(self) -> StudioAuditView:
        """Return what there is to judge."""
        state, found = self.job.state, self.read()
        if found is None:
            return StudioAuditView(state, self.job.read_log(), "", "", ())
        verdicts = self._store.read_verdicts()
        suspects = tuple(_view_suspect(row, verdicts.get(row["words"])) for row in found["suspected"])
        return StudioAuditView(state, "", found["verdict"], found["caution"], suspects)

    def judge(self, phrase: str, verdict: Literal["shortcut", "evidence", "open"], person: str) -> None:
        """Keep a judgment of a phrase that the audit has found; `open` takes it back."""
        rows = {row["words"]: row for row in (self.read() or {"suspected": []})["suspected"]}
        if phrase not in rows:
            raise ConfigError(f"phrase: saw {phrase!r}, expected one that the audit has found.")
        if verdict == "open":
            self._store.drop_verdict(phrase)
        else:
            self._store.save_verdict(PhraseVerdict(phrase, rows[phrase]["pattern"], verdict, person))


def _view_suspect(row: dict[str, Any], verdict: PhraseVerdict | None) -> SuspectView:
    contexts = tuple(SuspectContext(each["label"], _mark(each)) for each in row["contexts"])
    numbers = row["documents"], row["share"], row["lift"]
    return SuspectView(row["words"], row["pattern"], row["label"], *numbers, contexts, verdict)


def _mark(context: dict[str, Any]) -> Markup:
    layers = {Layer.SHORTCUT: context["shortcuts"], Layer.GOLD: context["gold"]}
    spans = {layer: [Span(*pair) for pair in pairs] for layer, pairs in layers.items()}
    return to_html(cut_segments(context["text"], spans))
