"""Store ratings in `ratings.sqlite` in the study folder, one row per item, rater and question.

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
from rationalize.locks import try_lock
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
    """An item without a usable answer from a rater.

    Attributes:
        item: Its id.
        rater: Name of the rater.
        reason: Why, in a sentence. The answer itself is not kept: it may contain anything.
    """

    item: str
    rater: str
    reason: str


def check_person_name(name: str) -> str:
    """Check a person's name as a rater; raise ConfigError if it is not usable."""
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
                raise DataError(
                    f"{self.path}: contains ratings of other items. Move the file away to start over."
                )

    def save(self, item: str, rater: str, grades: Grades) -> None:
        """Save grades of an item; they replace earlier ones by the same rater."""
        rows = [(item, rater, question, grade, _now()) for question, grade in grades.items()]
        with self._open() as database:
            database.executemany(_SAVE, rows)
            database.execute("DELETE FROM failures WHERE item = ? AND rater = ?", (item, rater))

    def save_failure(self, failure: Failure) -> None:
        """Save why an item failed."""
        row = (failure.item, failure.rater, failure.reason, _now())
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)", row)

    def read_grades(self, rater: str) -> dict[str, Grades]:
        """Read one rater's grades, by item."""
        found: dict[str, Grades] = {}
        query = "SELECT item, question, grade FROM ratings WHERE rater = ?"
        with self._open() as database:
            for item, question, grade in database.execute(query, (rater,)):
                found.setdefault(item, {})[question] = grade
        return found

    def read_ratings(self) -> list[Rating]:
        """Read every grade, in a fixed order."""
        query = "SELECT item, rater, question, grade FROM ratings ORDER BY rater, item, question"
        with self._open() as database:
            return [Rating(*row) for row in database.execute(query)]

    def read_failures(self) -> list[Failure]:
        """Read every item that failed and was not rated since."""
        query = "SELECT item, rater, reason FROM failures ORDER BY rater, item"
        with self._open() as database:
            return [Failure(*row) for row in database.execute(query)]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open a private connection; its changes are committed together or not at all."""
        try:
            with closing(sqlite3.connect(self.path, timeout=_WAIT_S)) as database, database:
                yield database
        except sqlite3.Error as error:
            raise DataError(
                f"{self.path}: not usable as a ratings file: {error}. Check that it is writable and that nothing "
                "else replaced it."
            ) from error


@contextmanager
def lock_rater(study: Study, rater: str) -> Iterator[None]:
    """Keep a second program from rating under the same name at the same time; a killed one releases the lock."""
    mark = hashlib.sha256(rater.encode()).hexdigest()[:12]
    with try_lock(_touch_lock_file(study.folder / f".rater-{mark}.lock")) as alone:
        if not alone:
            raise ConfigError(
                f"{study.folder}: another program is rating as {rater!r}. Use another name, or stop that program."
            )
        yield


def _touch_lock_file(path: Path) -> Path:
    try:
        path.touch()
    except OSError as error:
        raise DataError(f"{path.parent}: cannot be written: {error.strerror}.") from error
    return path


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
