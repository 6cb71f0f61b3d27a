"""A small sample of kills, refusals and power losses; the whole of it is slow."""

from __future__ import annotations

import errno
import signal
import sys

import pytest
import torch
from families import digest, fingerprint, make_command
from forks import name_left
from test_kill_points import kill_at, spread
from test_power_loss import check_record, lose_power, record
from test_refusals import refuse_at

from rationalize.cli.main import main

FAMILY = "un_rat"


def test_a_sample_of_kills_refusals_and_power_losses(bench):
    """One test, so that one warm process serves it, whoever shares out the tests."""
    operations = bench.know(FAMILY).operations
    kill_at(bench, FAMILY, spread(len(operations), 2), 300).close(2)
    middle = spread(len(operations), 4)[1:-1]
    refuse_at(bench, FAMILY, middle[:1], errno.ENOSPC, 300, lasting=True).close(1)
    refuse_at(bench, FAMILY, middle[1:], errno.EIO, 300, lasting=False).close(1)
    recorded = record(bench, FAMILY)
    check_record(recorded)
    lose_power(bench, FAMILY, recorded, 2, 300).close(2)


@pytest.mark.slow
def test_a_killed_double_leaves_what_a_killed_process_leaves(bench):
    operations = bench.know(FAMILY).operations
    points = [*spread(len(operations), 5), operations.index(next(filter(is_append, operations)))]
    root = bench.place()
    assert bench.warm.run(FAMILY, root, die_twice_at=points).code == 0
    for index in points:
        killed = bench.place()
        assert bench.warm.run(FAMILY, killed, die_at=index).signal == signal.SIGKILL
        assert fingerprint(killed, str(killed)) == fingerprint(name_left(root, index), str(root)), operations[
            index
        ]


def is_append(operation):
    return operation.startswith("write ") and operation.endswith("metrics.jsonl")


@pytest.mark.slow
def test_this_process_makes_what_a_fork_makes(bench, tmp_path, monkeypatch):
    """Another process makes the same files."""
    monkeypatch.setattr(sys, "argv", ["rationalize", *make_command(FAMILY, bench.warm.data, tmp_path)])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        torch.set_num_threads(threads)
    assert ended.value.code == 0
    assert digest(tmp_path) == bench.know(FAMILY).files
