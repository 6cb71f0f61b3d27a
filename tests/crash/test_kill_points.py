"""Work that is killed anywhere, and continued, ends with the very same files as work that was left alone."""

from __future__ import annotations

import random
import shutil

import pytest
from bench import describe
from families import SIX, describe_difference, digest
from forks import name_left

from tally import Tally

POINTS, TIMED = 200, 20


def spread(number: int, wanted: int) -> list[int]:
    """So many of so many, evenly, the first and the last included."""
    if wanted >= number:
        return list(range(number))
    return sorted({round(index * (number - 1) / (wanted - 1)) for index in range(wanted)})


def count(bench, family, tally, what, root):
    problem = bench.finish(family, root)
    tally.fail(f"{family}, {what}: {problem}") if problem else tally.count("identical")
    shutil.rmtree(root)


def attempt(bench, family, tally, what, **how):
    root = bench.place()
    killed = bench.warm.run(family, root, **how)
    if killed.signal not in (0, 9) or killed.code not in (0, -9):
        tally.fail(f"{family}, {what}: {describe(killed)}")
        shutil.rmtree(root)
    else:
        count(bench, family, tally, what, root)


def kill_at(bench, family, points, seconds):
    """One process works; at each point a double of it is killed, and its work continued in the end."""
    tally, operations = Tally(f"kills, {family}", seconds), bench.know(family).operations
    root = bench.place()
    assert bench.warm.run(family, root, die_twice_at=points).code == 0
    assert describe_difference(digest(root), bench.know(family).files) == []
    shutil.rmtree(root)
    for index in tally.bound(points):
        # The folder has the name that it had, since settings may hold it.
        name_left(root, index).rename(root)
        count(bench, family, tally, f"{index}: {operations[index]}", root)
    return tally


def kill_in_time(bench, family, times, tally):
    rng, lasts = random.Random(family), bench.know(family).seconds
    for _ in tally.bound(range(times)):
        after = rng.uniform(0, lasts)
        attempt(bench, family, tally, f"after {after:.2f} s", kill_after_s=after)


def storm(bench, family, most):
    """Killed again and again, after less than a second each time, until it is done; the number of kills."""
    root, rng = bench.place(), random.Random(1)
    for kills in range(most):
        if bench.warm.run(family, root, kill_after_s=rng.uniform(0.1, 1.0)).signal == 0:
            assert bench.finish(family, root) == ""
            shutil.rmtree(root)
            return kills
    raise AssertionError(f"{family}: no headway in {most} kills")


@pytest.mark.slow
@pytest.mark.parametrize("family", [*SIX, "cached"])
def test_killed_at_two_hundred_operations_and_at_any_time(bench, family):
    operations = bench.know(family).operations
    tally = kill_at(bench, family, spread(len(operations), POINTS), 3600)
    kill_in_time(bench, family, TIMED, tally)
    print(f"\n{family}: {bench.spared} left the same files as another one, which was continued")
    bench.spared = 0
    tally.close(POINTS)


@pytest.mark.slow
@pytest.mark.parametrize("family", SIX)
def test_a_storm_of_kills(bench, family):
    kills = storm(bench, family, 200)
    print(f"\nkill storm, {family}: attempted {kills} kills, then done and identical; failed 0")
