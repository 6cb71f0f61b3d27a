"""Run all cells of a comparison, wherever they run."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rationalize.comparison.plan import Plan
from rationalize.comparison.run_cell import Checked, Places, run_cell
from rationalize.errors import RationalizeError, describe_os_error
from rationalize.files import write_text
from rationalize.reporting.progress import TrainingDisplay
from rationalize.reporting.wording import format_duration
from rationalize.work.workplace import Task, Workplace, run_tasks


def run_all(
    plan: Plan,
    cells: Sequence[Checked],
    places: Places,
    *,
    passes: Mapping[str, float],
    workplace: Workplace,
    quiet: bool = False,
) -> dict[str, str]:
    """Run cells; return the error message of each failed one, by key. A failure does not stop the others."""
    failed: dict[str, str] = {}
    began, done, total = time.monotonic(), 0.0, sum(passes[each.cell.key] for each in cells)
    with TrainingDisplay(quiet=quiet) as display:
        shown = display if workplace.is_here else None
        tasks = [make_task(CellWork(plan, each, places, shown)) for each in cells]
        outcomes = run_tasks(
            workplace,
            tasks,
            lambda task: display.warn(f"{task.key}: its worker was lost, it is begun again elsewhere"),
        )
        with closing(outcomes):
            for count, each in enumerate(outcomes, start=1):
                done += passes[each.key]
                elapsed = time.monotonic() - began
                left = elapsed / done * (total - done)
                display.message(
                    f"cell {count} of {len(cells)}: {each.key} {'failed' if each.problem else 'done'}; "
                    f"{format_duration(elapsed)} so far, about {format_duration(left)} left"
                )
                if each.problem is not None:
                    display.warn(each.problem)
                    failed[each.key] = each.problem
    return failed


@dataclass(frozen=True)
class CellWork:
    """Runs a cell.

    Attributes:
        plan: The comparison.
        each: The cell.
        places: Where its files are; a folder stands in for them where these are not seen.
        display: Shows progress; it cannot be sent elsewhere. None: nothing is shown.
    """

    plan: Plan
    each: Checked
    places: Places
    display: TrainingDisplay | None = None

    def __call__(self, scratch: Path | None) -> str | None:
        """Run the cell; return what went wrong."""
        home = self.places
        places = home if scratch is None else Places(scratch / "runs", scratch / "cells", home.keep_models)
        with nullcontext(self.display) if self.display else TrainingDisplay(quiet=True) as display:
            display.message(f"{self.each.cell.key}: {self.each.n_train} training examples")
            return _attempt(self.plan, self.each, places, display)


def make_task(work: CellWork) -> Task:
    """Return a cell as a task, with what it reads and writes, and what it makes for other cells."""
    each, places = work.each, work.places
    key = each.cell.key
    shared = tuple(name for name in (each.artifacts, each.warm_start) if name)
    files = {
        **{f"runs/artifacts/{name}": places.artifacts(name) for name in shared},
        f"runs/{key}": places.run(each.cell),
        f"runs/clocks/{key}.json": places.clock(each.cell),
        f"cells/{key}.json": places.result(each.cell),  # last: with it, the cell is finished
    }
    return Task(key, work, files, shared)


def _attempt(plan: Plan, each: Checked, places: Places, display: TrainingDisplay) -> str | None:
    path = places.run(each.cell) / "traceback.txt"
    path.unlink(missing_ok=True)
    try:
        run_cell(plan, each, places, display)
    except RationalizeError as error:
        return str(error)
    except OSError as error:
        return describe_os_error(error)
    except Exception as error:
        # A bug in one cell must not cost a night's work on the others.
        write_text(path, traceback.format_exc())
        return f"{type(error).__name__}: {error} (traceback: {path})"
    return None
