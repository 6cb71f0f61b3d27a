"""Run all cells of a comparison, one after the other or in several processes."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from rationalize.comparison.plan import Plan
from rationalize.comparison.run_cell import Checked, Places, run_cell
from rationalize.errors import RationalizeError, TrainingError, describe_os_error
from rationalize.files import write_text
from rationalize.reporting.progress import TrainingDisplay
from rationalize.reporting.wording import format_duration

Outcome = tuple[str, str | None]
"""A cell's key, and what went wrong, if anything."""


def run_all(
    plan: Plan,
    cells: Sequence[Checked],
    places: Places,
    *,
    passes: Mapping[str, float],
    jobs: int,
    quiet: bool = False,
) -> dict[str, str]:
    """Run cells; return the error message of each failed one, by key. A failure does not stop the others."""
    failed: dict[str, str] = {}
    began, done, total = time.monotonic(), 0.0, sum(passes[each.cell.key] for each in cells)
    with TrainingDisplay(quiet=quiet) as display:
        outcomes = (
            _run_in_turn(plan, cells, places, display)
            if jobs == 1
            else _run_in_processes(plan, cells, places, jobs)
        )
        for count, (key, problem) in enumerate(outcomes, start=1):
            done += passes[key]
            elapsed = time.monotonic() - began
            left = elapsed / done * (total - done)
            display.message(
                f"cell {count} of {len(cells)}: {key} {'failed' if problem else 'done'}; "
                f"{format_duration(elapsed)} so far, about {format_duration(left)} left"
            )
            if problem is not None:
                display.warn(problem)
                failed[key] = problem
    return failed


def _run_in_turn(
    plan: Plan, cells: Sequence[Checked], places: Places, display: TrainingDisplay
) -> Iterator[Outcome]:
    for each in cells:
        display.message(f"{each.cell.key}: {each.n_train} training examples")
        yield _attempt(plan, each, places, display)


def _run_in_processes(plan: Plan, cells: Sequence[Checked], places: Places, jobs: int) -> Iterator[Outcome]:
    """Run cells in processes; those that share artifacts wait until the first has made them."""
    threads = max(1, (os.cpu_count() or 1) // jobs)
    waiting = list(cells)
    making: set[str] = set()
    made: set[str] = set()
    running: dict[Future[Outcome], str | None] = {}
    with (
        ProcessPoolExecutor(jobs, get_context("spawn"), _share_threads, (threads,)) as pool,
        _stop_with_us(),
    ):
        while waiting or running:
            for each in list(waiting):
                name = each.artifacts
                if len(running) == jobs or name in making:
                    continue
                if name is not None and name not in made:
                    making.add(name)
                waiting.remove(each)
                running[pool.submit(_attempt_quietly, plan, each, places)] = name
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                name, outcome = running.pop(future), _take_outcome(future)
                if name is not None:
                    making.discard(name)
                    made |= {name} if outcome[1] is None else set()
                yield outcome


@contextmanager
def _stop_with_us() -> Iterator[None]:
    """Pass an interrupt on to the training processes, which then save where they are; else we would wait for them."""
    others = active_children()
    try:
        yield
    except KeyboardInterrupt:
        for process in active_children():
            if process not in others:
                process.terminate()
        raise


def _take_outcome(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        raise TrainingError(
            "a training process was killed, perhaps for lack of memory. Finished cells are kept, and the others go on "
            "from their last checkpoints: run the comparison again, with fewer jobs if memory is short.",
            field="jobs",
        ) from None


def _share_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)


def _attempt_quietly(plan: Plan, each: Checked, places: Places) -> Outcome:
    with TrainingDisplay(quiet=True) as display:
        return _attempt(plan, each, places, display)


def _attempt(plan: Plan, each: Checked, places: Places, display: TrainingDisplay) -> Outcome:
    path = places.run(each.cell) / "traceback.txt"
    path.unlink(missing_ok=True)
    try:
        run_cell(plan, each, places, display)
    except RationalizeError as error:
        return each.cell.key, str(error)
    except OSError as error:
        return each.cell.key, describe_os_error(error)
    except Exception as error:
        # A bug in one cell must not cost a night's work on the others.
        write_text(path, traceback.format_exc())
        return each.cell.key, f"{type(error).__name__}: {error} (traceback: {path})"
    return each.cell.key, None
