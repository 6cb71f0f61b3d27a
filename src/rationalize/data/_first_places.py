"""What was seen first under a key: in memory, or in a temporary database as soon as there are many keys."""

from __future__ import annotations

import json
import sqlite3
from typing import Generic, TypeVar

from rationalize.data._digest_set import digest_text

T = TypeVar("T", bound=tuple[str | int | None, ...])

HELD_KEYS = 100_000
_CACHE_KIB = 16_000


class FirstPlaces(Generic[T]):
    """A mapping from texts to what was seen first; of the texts, digests alone are kept."""

    def __init__(self) -> None:
        self._held: dict[bytes, T] = {}
        self._table: sqlite3.Connection | None = None

    def setdefault(self, key: str, value: T) -> T:
        """Return what was seen first under a key: this, if there was nothing."""
        digest = digest_text(key)
        if self._table is None:
            if len(self._held) < HELD_KEYS:
                return self._held.setdefault(digest, value)
            self._table = _make_table()
            rows = ((digest, json.dumps(value)) for digest, value in self._held.items())
            self._table.executemany("INSERT INTO seen VALUES (?, ?)", rows)
            self._held.clear()
        new = self._table.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (digest, json.dumps(value)))
        return value if new.rowcount else self._find(digest) or value

    def get(self, key: str) -> T | None:
        """Return what was seen first under a key."""
        digest = digest_text(key)
        return self._held.get(digest) if self._table is None else self._find(digest)

    def _find(self, digest: bytes) -> T | None:
        if self._table is None:
            return None
        row = self._table.execute("SELECT place FROM seen WHERE digest = ?", (digest,)).fetchone()
        found: T | None = None if row is None else tuple(json.loads(row[0]))  # type: ignore[assignment]
        return found


def _make_table() -> sqlite3.Connection:
    """Make a database of which most is on disk, and which is gone when it is closed."""
    table = sqlite3.connect("", isolation_level=None)
    for setting in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{_CACHE_KIB}"):
        table.execute(f"PRAGMA {setting}")
    table.execute("CREATE TABLE seen (digest BLOB PRIMARY KEY, place TEXT) WITHOUT ROWID")
    table.execute("BEGIN")
    return table
