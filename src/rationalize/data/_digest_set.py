"""Sets of texts that need eight bytes for each: to count those that differ, and those that two sets share."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WAITING = 200_000  # digests that are gathered before they are sorted in


def digest_text(text: str) -> bytes:
    """Return 16 bytes that no other text will have, to know a text again without keeping it."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class DigestSet:
    """A set of texts, known by their digests."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._sorted: NDArray[np.uint64] | None = None

    def add(self, text: str) -> None:
        """Add a text."""
        self._waiting += digest_text(text)[:8]
        if len(self._waiting) >= 8 * WAITING:
            self._sort_in()

    def __len__(self) -> int:
        return len(self._sort_in())

    def count_shared(self, other: DigestSet) -> int:
        """Count the texts that both sets have."""
        import numpy as np

        return len(np.intersect1d(self._sort_in(), other._sort_in(), assume_unique=True))

    def _sort_in(self) -> NDArray[np.uint64]:
        import numpy as np

        new = np.frombuffer(bytes(self._waiting), dtype=np.uint64)
        if self._sorted is None or len(new):
            known = np.zeros(0, np.uint64) if self._sorted is None else self._sorted
            self._sorted = np.unique(np.concatenate([known, new]))
            self._waiting.clear()
        return self._sorted
