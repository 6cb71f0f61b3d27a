"""Where ratings are kept: `ratings.sqlite` in the study folder, one row per item, rater and question.

Every grade is committed to disk before the rater sees that it was saved.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rationalize.errors import ConfigError, DataError
from rationalize.files import try_lock
from rationalize.ratings.guide import HIGHEST, LOWEST, Grades
from rationalize.ratings.study import Study

RATINGS = "ratings.sqlite"
LLM = "llm:"
_WAIT_S = 30.0
_NAME = re.compile(r"[\w.@+-][\w.@+ -]{0,63}")
_TABLES = f"""
CREATE TABLE IF NOT EXISTS study (items_sha256 TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS ratings (
    item TEXT NOT NULL, rater TEXT NOT NULL, question TEXT NOT NULL,
    grade INTEGER NOT NULL CHECK (grade BETWEEN {LOWEST} AND {HIGHEST}),
    at TEXT NOT NULL,
    PRIMARY KEY (item, rater, question)
);
CREATE TABLE IF NOT EXISTS failures (
    item TEXT NOT NULL, rater TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (item, rater)
);
"""
_SAVE = """
INSERT INTO ratings VALUES (?, ?, ?, ?, ?)
ON CONFLICT (item, rater, question) DO UPDATE SET grade = excluded.grade, at = excluded.at
"""


@dataclass(frozen=True, slots=True)
class Rating:
    """One grade."""

    item: str
    rater: str
    question: str
    grade: int


@dataclass(frozen=True, slots=True)
class Failure:
    """An item that a rater gave no usable answer to.

    Attributes:
        item: Its id.
        rater: Who was asked.
        reason: Why, in a sentence. The answer itself is not kept: it was not asked for, and may hold anything.
    """

    item: str
    rater: str
    reason: str


def person_name(name: str) -> str:
    """A person's name as a rater; ConfigError if it cannot be one."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"rater {name!r}: expected up to 64 letters, digits, spaces and . _ @ + -, for instance anna.",
            field="rater",
        )
    return name


class RatingStore:
    """The ratings of one study. Safe to use from several threads and processes at once."""

    def __init__(self, study: Study) -> None:
        self.path = study.folder / RATINGS
        with self._open() as database:
            database.executescript(_TABLES)
            mine = (study.info.items_sha256,)
            found = database.execute("SELECT items_sha256 FROM study").fetchone()
            if found is None:
                database.execute("INSERT OR IGNORE INTO study VALUES (?)", mine)
            elif found != mine:
                raise DataError(f"{self.path}: ratings of other items. Move the file away to begin anew.")

    def save(self, item: str, rater: str, grades: Grades) -> None:
        """Keep grades of an item, in place of earlier ones by the same rater."""
        rows = [(item, rater, question, grade, _now()) for question, grade in grades.items()]
        with self._open() as database:
            database.executemany(_SAVE, rows)
            database.execute("DELETE FROM failures WHERE item = ? AND rater = ?", (item, rater))

    def fail(self, failure: Failure) -> None:
        """Keep what went wrong with an item."""
        row = (failure.item, failure.rater, failure.reason, _now())
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)", row)

    def grades_by(self, rater: str) -> dict[str, Grades]:
        """What one rater has given so far, by item."""
        found: dict[str, Grades] = {}
        query = "SELECT item, question, grade FROM ratings WHERE rater = ?"
        with self._open() as database:
            for item, question, grade in database.execute(query, (rater,)):
                found.setdefault(item, {})[question] = grade
        return found

    def ratings(self) -> list[Rating]:
        """Every grade, in a fixed order."""
        query = "SELECT item, rater, question, grade FROM ratings ORDER BY rater, item, question"
        with self._open() as database:
            return [Rating(*row) for row in database.execute(query)]

    def failures(self) -> list[Failure]:
        """Every item that failed and was not rated since."""
        query = "SELECT item, rater, reason FROM failures ORDER BY rater, item"
        with self._open() as database:
            return [Failure(*row) for row in database.execute(query)]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection of one's own; what is done in it is committed together or not at all."""
        try:
            with closing(sqlite3.connect(self.path, timeout=_WAIT_S)) as database, database:
                yield database
        except sqlite3.Error as error:
            raise DataError(
                f"{self.path}: cannot be used as a file of ratings: {error}. Check that it may be written and "
                "that nothing else replaced it."
            ) from error


@contextmanager
def sole_use(study: Study, rater: str) -> Iterator[None]:
    """Keep a second program from rating under the same name at the same time; a killed one lets go by itself."""
    mark = hashlib.sha256(rater.encode()).hexdigest()[:12]
    with try_lock(_lock_file(study.folder / f".rater-{mark}.lock")) as alone:
        if not alone:
            raise ConfigError(
                f"{study.folder}: somebody is rating as {rater!r} right now. Use another name, or end that program."
            )
        yield


def _lock_file(path: Path) -> Path:
    try:
        path.touch()
    except OSError as error:
        raise DataError(f"{path.parent}: cannot be written to: {error.strerror}.") from error
    return path


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
