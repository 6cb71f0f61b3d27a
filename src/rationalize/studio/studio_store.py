"""Everything that people decide in a studio, in `studio.sqlite`: committed to disk before a page shows it as saved.

Changes are only ever added; undoing one marks it as undone. So nothing that was decided is lost.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from rationalize.errors import ConfigError, DataError
from rationalize.files import json_line
from rationalize.studio._decisions import Annotation, PhraseVerdict, Suggestion
from rationalize.types import Span

DATABASE = "studio.sqlite"
_WAIT_S = 30.0
_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS people (name TEXT PRIMARY KEY, ordering TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER NOT NULL, person TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'done', 'skipped')), spans TEXT NOT NULL, label TEXT,
    note TEXT NOT NULL, at TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS by_person ON changes (person, undone, number, id);
CREATE TABLE IF NOT EXISTS suggestions (
    model TEXT NOT NULL, number INTEGER NOT NULL, label TEXT NOT NULL, probabilities TEXT NOT NULL,
    spans TEXT NOT NULL, review INTEGER NOT NULL, PRIMARY KEY (model, number)
);
CREATE TABLE IF NOT EXISTS verdicts (
    phrase TEXT PRIMARY KEY, pattern TEXT NOT NULL, verdict TEXT NOT NULL CHECK (verdict IN ('shortcut', 'evidence')),
    person TEXT NOT NULL, at TEXT NOT NULL
);
"""
_LATEST = """
SELECT number, person, state, spans, label, note, id FROM changes
WHERE id IN (SELECT max(id) FROM changes WHERE undone = 0 GROUP BY person, number)
"""


class ChangedElsewhereError(Exception):
    """The same person has changed the same text in another window."""


class StudioStore:
    """The decisions of one studio. Safe to use from several threads."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._database = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False)
            # Without FULL, the last commits of a write-ahead log do not survive a power cut.
            self._database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + _TABLES)
        except sqlite3.Error as error:
            raise self._explain(error) from error
        self._check_data(fingerprint)

    def _check_data(self, fingerprint: str) -> None:
        known = self.read_fact("data")
        if known is None:
            self.save_fact("data", fingerprint)
        elif known != fingerprint:
            raise ConfigError(
                f"{self.path}: belongs to other texts, or they have changed since. Choose another folder, or give the "
                "same data again.",
                field="out",
            )

    def close(self) -> None:
        """Write everything into the one file."""
        with self._lock:
            self._database.close()

    # People

    def add_person(self, name: str, ordering: str) -> None:
        """Remember a person, or the order that they have chosen."""
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO people VALUES (?, ?)", (name, ordering))

    def read_people(self) -> dict[str, str]:
        """Read everybody's chosen order, by name."""
        with self._open() as database:
            return dict(database.execute("SELECT name, ordering FROM people ORDER BY name"))

    # Annotations

    def save(self, found: Annotation) -> Annotation:
        """Add a change on top of the one that the page has shown (`found.change`).

        Raises:
            ChangedElsewhereError: If there is a later one.
        """
        query = "SELECT max(id) FROM changes WHERE person = ? AND undone = 0 AND number = ?"
        row = (found.number, found.person, found.state, _to_text(found.spans), found.label, found.note)
        with self._open() as database:
            (last,) = database.execute(query, (found.person, found.number)).fetchone()
            if (last or 0) != found.change:
                raise ChangedElsewhereError
            done = database.execute(
                "INSERT INTO changes (number, person, state, spans, label, note, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*row, _now()),
            )
        return Annotation(*_unpack((*row, int(done.lastrowid or 0))))

    def undo(self, person: str) -> int | None:
        """Take back a person's last change; return the text that it was about, or None if there is none."""
        query = "SELECT id, number FROM changes WHERE person = ? AND undone = 0 ORDER BY id DESC LIMIT 1"
        with self._open() as database:
            last = database.execute(query, (person,)).fetchone()
            if last is None:
                return None
            database.execute("UPDATE changes SET undone = 1 WHERE id = ?", (last[0],))
        return int(last[1])

    def read_one(self, person: str, number: int) -> Annotation | None:
        """Read what a person has decided about a text."""
        query = f"{_LATEST} AND person = ? AND number = ?"
        with self._open() as database:
            row = database.execute(query, (person, number)).fetchone()
        return None if row is None else Annotation(*_unpack(row))

    def read_all(self, person: str | None = None) -> list[Annotation]:
        """Read everything that people, or one of them, have decided, by text and person."""
        query = f"{_LATEST} AND (? IS NULL OR person = ?) ORDER BY number, person"
        with self._open() as database:
            return [Annotation(*_unpack(row)) for row in database.execute(query, (person, person))]

    # Suggestions

    def save_suggestions(self, model: str, found: Iterable[Suggestion]) -> None:
        """Keep what a model would mark."""
        rows = [
            (
                model,
                each.number,
                each.label,
                json_line(each.probabilities),
                _to_text(each.spans),
                each.review,
            )
            for each in found
        ]
        with self._open() as database:
            database.executemany("INSERT OR REPLACE INTO suggestions VALUES (?, ?, ?, ?, ?, ?)", rows)

    def read_suggestions(self, model: str, number: int | None = None) -> dict[int, Suggestion]:
        """Read what a model would mark, in all texts or in one, by number."""
        query = (
            "SELECT number, label, probabilities, spans, review FROM suggestions "
            "WHERE model = ? AND (? IS NULL OR number = ?)"
        )
        with self._open() as database:
            rows = database.execute(query, (model, number, number)).fetchall()
        return {
            row[0]: Suggestion(row[0], row[1], json.loads(row[2]), _to_spans(row[3]), bool(row[4]))
            for row in rows
        }

    def list_suggested(self, model: str) -> set[int]:
        """List the texts that a model has read."""
        with self._open() as database:
            rows = database.execute("SELECT number FROM suggestions WHERE model = ?", (model,)).fetchall()
        return {row[0] for row in rows}

    # Verdicts

    def save_verdict(self, found: PhraseVerdict) -> None:
        """Keep a judgment of a phrase; it replaces an earlier one."""
        row = (found.phrase, found.pattern, found.verdict, found.person, _now())
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)", row)

    def drop_verdict(self, phrase: str) -> None:
        """Take a judgment back."""
        with self._open() as database:
            database.execute("DELETE FROM verdicts WHERE phrase = ?", (phrase,))

    def read_verdicts(self) -> dict[str, PhraseVerdict]:
        """Read the judgments by phrase."""
        with self._open() as database:
            rows = database.execute(
                "SELECT phrase, pattern, verdict, person FROM verdicts ORDER BY phrase"
            ).fetchall()
        return {row[0]: PhraseVerdict(*row) for row in rows}

    # Facts

    def save_fact(self, name: str, value: str) -> None:
        """Keep a single value."""
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def read_fact(self, name: str) -> str | None:
        """Read a single value."""
        with self._open() as database:
            row = database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Use the connection alone; changes are committed together or not at all."""
        try:
            with self._lock, self._database:
                yield self._database
        except sqlite3.Error as error:
            raise self._explain(error) from error

    def _explain(self, error: sqlite3.Error) -> DataError:
        return DataError(
            f"{self.path}: cannot be used: {error}. Check that it is a studio's file, and that the disk is not full."
        )


def _unpack(
    row: tuple[int, str, Literal["open", "done", "skipped"], str, str | None, str, int],
) -> tuple[int, str, Literal["open", "done", "skipped"], tuple[Span, ...], str | None, str, int]:
    number, person, state, spans, label, note, change = row
    return number, person, state, _to_spans(spans), label, note, change


def _to_text(spans: Iterable[Span]) -> str:
    return json_line([[span.start, span.end] for span in spans]).strip()


def _to_spans(text: str) -> tuple[Span, ...]:
    return tuple(Span(start, end) for start, end in json.loads(text))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
