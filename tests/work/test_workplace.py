"""The one interface: who waits for whom, who is tried again, and what an interruption ends."""

from __future__ import annotations

import os
from concurrent.futures import Future
from functools import partial

import pytest

from rationalize.errors import ConfigError, TrainingError
from rationalize.work.opening import open_workplace
from rationalize.work.resources import Resources
from rationalize.work.workplace import ATTEMPTS, Task, TaskLost, run_tasks


def do(returned, scratch):
    return returned


def end_process(scratch):
    os._exit(1)


class Queue:
    """A place whose tasks end when the test says so."""

    is_here = False

    def __init__(self, slots=None, lost=()):
        self.slots, self.lost = slots, list(lost)
        self.begun, self.stopped = [], False
        self._futures = {}

    def submit(self, task):
        self.begun.append(task.key)
        future = Future()
        self._futures[future] = task
        future.set_result(None)
        return future

    def take(self, future):
        task = self._futures.pop(future)
        if task.key in self.lost:
            self.lost.remove(task.key)
            raise TaskLost
        return task.work(None)

    def stop(self):
        self.stopped = True


def tasks(*names, **more):
    return [Task(name, partial(do, None), **more) for name in names]


@pytest.mark.parametrize("jobs", [None, 1])
def test_here_tasks_are_done_in_their_order(tmp_path, jobs):
    given = [Task("a", partial(do, None)), Task("b", partial(do, "odd"))]
    with open_workplace(None, jobs, Resources(), tmp_path) as place:
        assert place.is_here
        assert [(each.key, each.problem) for each in run_tasks(place, given)] == [("a", None), ("b", "odd")]


def test_what_several_need_is_made_by_the_first_and_made_again_if_that_failed():
    place = Queue()
    given = [Task("a", partial(do, "odd"), makes=("x", "y")), *tasks("b", makes=("y",)), *tasks("c")]
    outcomes = run_tasks(place, [*given, *tasks("d", makes=("y",)), *tasks("e", makes=("y",))])
    next(outcomes)
    assert place.begun == ["a", "c"]
    assert {each.key for each in outcomes} | {"a", "c"} == {"a", "b", "c", "d", "e"}
    assert place.begun == ["a", "c", "b", "d", "e"]  # d and e waited for b, since a failed


def test_a_place_gets_no_more_than_it_takes():
    place = Queue(slots=2)
    outcomes = run_tasks(place, tasks("a", "b", "c"))
    assert place.begun == []
    next(outcomes)
    assert place.begun == ["a", "b"]


def test_a_lost_task_is_begun_again_and_given_up_in_the_end():
    place, noted = Queue(lost=["a"] + ["b"] * ATTEMPTS), []
    outcomes = {each.key: each.problem for each in run_tasks(place, tasks("a", "b"), noted.append)}
    assert outcomes["a"] is None
    assert f"lost {ATTEMPTS} times" in outcomes["b"]
    assert [task.key for task in noted].count("a") == 1
    assert place.begun.count("b") == ATTEMPTS


def test_an_interruption_ends_what_is_running():
    place = Queue()
    outcomes = run_tasks(place, tasks("a", "b", "c"))
    next(outcomes)
    with pytest.raises(KeyboardInterrupt):
        outcomes.throw(KeyboardInterrupt)
    assert place.stopped


@pytest.mark.slow
def test_a_killed_process_is_reported_without_a_traceback(tmp_path):
    with (
        pytest.raises(TrainingError, match="process was killed"),
        open_workplace(None, 2, Resources(), tmp_path) as place,
    ):
        list(run_tasks(place, [Task("a", end_process)]))


def test_resources_are_whole_or_parts_of_one():
    assert Resources(cpus=2, gpus=0.5).gpus == 0.5
    for wrong in ({"cpus": 0}, {"cpus": 1.5}, {"gpus": -1}, {"gpus": 2.5}, {"tpus": 1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Resources(**wrong)


@pytest.mark.parametrize(
    ("device", "gpus", "says"), [("cuda", 0, "resources.gpus is 0"), ("cuda:1", 1, "chooses the GPU itself")]
)
def test_a_device_that_a_task_would_not_find_is_refused(device, gpus, says):
    with pytest.raises(ConfigError, match=says):
        Resources(gpus=gpus).check_device(device)
    for good in ("auto", "cpu"):
        Resources().check_device(good)
    Resources(gpus=1).check_device("cuda")
