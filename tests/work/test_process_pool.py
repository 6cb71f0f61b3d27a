"""Processes that train side by side end with the one that started them, even if it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from helpers import is_alive

SCRIPT = """
import os, sys, time
from functools import partial
from pathlib import Path
from rationalize.interrupts import defer_signals
from rationalize.work._process_pool import open_pool
from rationalize.work.workplace import Task, run_tasks

def train(folder, scratch):
    with defer_signals() as deferred:
        (folder / f"busy-{os.getpid()}").touch()
        while deferred.number is None:
            time.sleep(0.05)
        (folder / "saved").touch()
    return None

def rest(folder, scratch):
    (folder / f"idle-{os.getpid()}").touch()
    time.sleep(1)  # so that the other process takes the other task
    return None

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with open_pool(2) as pool:
        list(run_tasks(pool, [Task("train", partial(train, folder)), Task("rest", partial(rest, folder))]))
"""


def wait_until(happened) -> None:
    end = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_nobody_trains_on_when_the_one_who_started_them_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with subprocess.Popen([sys.executable, str(script), str(tmp_path)], stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: len(list(tmp_path.glob("*-*"))) == 2)
        workers = {each.name.split("-")[0]: int(each.name.split("-")[1]) for each in tmp_path.glob("*-*")}
        os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: not any(map(is_alive, workers.values())))
    assert len(set(workers.values())) == 2
    assert (tmp_path / "saved").exists()  # the training stopped after its step, as at any SIGTERM
