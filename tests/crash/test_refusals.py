"""A disk that is full, or broken at one place: one sentence, exit code 2, nothing half done; it can be continued."""

from __future__ import annotations

import errno
import re
import shutil

import pytest
from bench import describe
from families import SIX

from tally import Tally

LEFT_OVER = re.compile(r"\.part-\d+|\.old-\d+")


def normalize(operation: str) -> str:
    """The kind of place that an operation is at: numbers and hashes do not count."""
    return re.sub(r"[0-9a-f]{8,}|\d+", "#", operation)


def find_places(operations: list[str]) -> dict[str, int]:
    """The first operation of each kind."""
    found: dict[str, int] = {}
    for index, operation in enumerate(operations):
        found.setdefault(normalize(operation), index)
    return found


def find_fault(ended) -> str:
    """What is wrong with the way in which a command ended that the disk refused something."""
    if ended.signal or ended.code not in (0, 2) or "Traceback" in ended.said:
        return describe(ended)
    lines = [line for line in ended.said.splitlines() if line.startswith(("error: ", "failed: "))]
    if ended.code == 2 and not lines:
        return f"no sentence: {ended.said[-300:]!r}"
    return f"more than a sentence: {lines}" if any(len(line) > 700 for line in lines) else ""


def attempt(bench, family, index, number, lasting, tally):
    root = bench.place()
    ended = bench.warm.run(family, root, die_at=index, refuse=number, lasting=lasting)
    what = f"{family}, {errno.errorcode[number]} at {index}: {bench.know(family).operations[index]}"
    half = [path for path in root.rglob("*") if LEFT_OVER.search(path.name)] if lasting is False else []
    problem = (
        find_fault(ended) or (f"left {half[:3]}" if half and ended.code else "") or bench.finish(family, root)
    )
    tally.fail(f"{what}: {problem}") if problem else tally.count("refused" if ended.code else "did without")
    shutil.rmtree(root)


def refuse_at(bench, family, indexes, number, seconds, *, lasting):
    tally = Tally(f"{errno.errorcode[number]}, {family}", seconds)
    for index in tally.bound(indexes):
        attempt(bench, family, index, number, lasting, tally)
    return tally


@pytest.mark.slow
@pytest.mark.parametrize("family", [*SIX, "cached"])
@pytest.mark.parametrize(("number", "lasting"), [(errno.ENOSPC, True), (errno.EIO, False)])
def test_refused_at_every_kind_of_operation(bench, family, number, lasting):
    places = find_places(bench.know(family).operations)
    refuse_at(bench, family, places.values(), number, 3600, lasting=lasting).close(len(places))
