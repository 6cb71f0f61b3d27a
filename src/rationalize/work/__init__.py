"""Where work runs: here, in processes of this machine, or on a Ray cluster, through one small interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.work.opening import open_workplace as open_workplace
    from rationalize.work.resources import Resources as Resources
    from rationalize.work.workplace import Task as Task
    from rationalize.work.workplace import Workplace as Workplace
    from rationalize.work.workplace import run_tasks as run_tasks

_HOMES = {
    "Resources": "resources",
    "Task": "workplace",
    "Workplace": "workplace",
    "open_workplace": "opening",
    "run_tasks": "workplace",
}
__all__ = ["Resources", "Task", "Workplace", "open_workplace", "run_tasks"]
__getattr__ = open_room(__name__, _HOMES)
