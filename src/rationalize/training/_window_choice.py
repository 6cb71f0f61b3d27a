"""Choose the window of a long text that an epoch shows: one at a time, and all of them over time.

A step thus costs what it costs with truncated texts. The choice depends on the seed, the text's id and the epoch alone,
so a resumed run sees what the uninterrupted one would have seen.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from rationalize.seeding import python_random
from rationalize.text.batch import InputRow


def choose_window(row: InputRow, seed: int, epoch: int) -> InputRow:
    """Return the window of a text to learn from in an epoch.

    Windows take turns: none comes again before all others came, in an order that is shuffled for every round. Where
    gold lies in some windows alone, these take turns among themselves in every other epoch, since most windows of
    such a text only teach to select nothing.
    """
    if not row.more:
        return row
    windows = (row, *row.more)
    marked = [window for window in windows if window.gold is not None and window.gold.any()]
    if not marked or len(marked) == len(windows):
        return _take_turn(windows, epoch, seed, "windows", row.id)
    # Half of the texts begin with gold, so that every epoch has its share of it.
    offset = python_random(seed, "gold first", row.id).randrange(2)
    visit, with_gold = divmod(epoch + offset, 2)
    if with_gold:
        return _take_turn(marked, visit, seed, "windows with gold", row.id)
    return _take_turn(windows, visit - offset, seed, "windows", row.id)


class PoolLengths:
    """The lengths of a pool's rows in pieces, found once but for texts of several windows: rows may be on disk."""

    def __init__(self, rows: Sequence[InputRow], seed: int) -> None:
        self._rows, self._seed = rows, seed
        self._first, self._long = array("i"), array("q")
        for place, row in enumerate(rows):
            self._first.append(len(row.window))
            if row.more:
                self._long.append(place)

    def list_lengths(self, epoch: int) -> Sequence[int]:
        """List the lengths of the windows that an epoch shows."""
        lengths = self._first[:]
        for place in self._long:
            lengths[place] = len(choose_window(self._rows[place], self._seed, epoch).window)
        return lengths


def _take_turn(windows: Sequence[InputRow], visit: int, seed: int, *purpose: str) -> InputRow:
    """Return whose turn it is at a visit, counted from 0."""
    done, place = divmod(visit, len(windows))
    order = list(range(len(windows)))
    python_random(seed, *purpose, done).shuffle(order)
    return windows[order[place]]
