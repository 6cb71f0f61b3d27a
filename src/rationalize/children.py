"""Processes that this one starts: they share its cores, and end with it, even if it is killed."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing import parent_process


def share_cores(processes: int) -> int:
    """Return how many threads each of several processes may have, so that they do not wait for one another."""
    return max(1, (os.cpu_count() or 1) // processes)


def end_with_parent() -> None:
    """Send SIGTERM to this process as soon as the one that started it is gone: nobody else would end it."""
    threading.Thread(target=_wait_for_end, daemon=True).start()


def is_orphan() -> bool:
    """Return whether the process that started this one is gone."""
    parent = parent_process()
    return parent is not None and not parent.is_alive()


def _wait_for_end() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
