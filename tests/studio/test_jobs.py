"""Work in other processes: its states, its end, and finding it again."""

from __future__ import annotations

import sys

import pytest
from studio_helpers import wait_until

from rationalize.studio._jobs import Job

# As `cli/studio_job.py` does, but without loading the package's heavy parts: waits for a file, then ends as told.
SCRIPT = """
import sys, time
from pathlib import Path
from rationalize.locks import take_lock
folder, word = Path(sys.argv[1]), sys.argv[2]
lock = take_lock(folder / ".job.lock")
print("at work", file=sys.stderr, flush=True)
(folder / "begun").touch()
while not (folder / "go").exists(): time.sleep(0.01)
if word == "fail": sys.exit("it failed")
print("42", flush=True)
(folder / "result.txt.part").replace(folder / "result.txt")
"""
RUNNER = (sys.executable, "-c", SCRIPT)


@pytest.fixture
def begun(tmp_path):
    """Starts a job and waits until it is at work."""
    jobs = []

    def start(word="work"):
        job = Job(tmp_path, RUNNER)
        jobs.append(job)
        (tmp_path / "begun").unlink(missing_ok=True)
        job.start([word])
        wait_until((tmp_path / "begun").exists)
        return job

    yield start
    for job in jobs:
        job.stop()


def test_a_job_runs_and_ends(begun, tmp_path):
    assert Job(tmp_path, RUNNER).state is None
    job = begun()
    assert job.state == "running"
    (tmp_path / "go").touch()
    wait_until(lambda: job.state == "finished")
    assert (tmp_path / "result.txt").read_text() == "42\n"
    assert "at work" in job.read_log()


def test_a_job_that_fails_says_why(begun, tmp_path):
    job = begun("fail")
    (tmp_path / "go").touch()
    wait_until(lambda: job.state == "failed")
    assert "it failed" in job.read_log()
    assert not (tmp_path / "result.txt").exists()


def test_a_job_is_found_again_and_stopped_by_another_studio(begun, tmp_path):
    mine = begun()
    other = Job(tmp_path, RUNNER)
    assert other.state == "running"
    other.stop()
    wait_until(lambda: mine.state == "stopped")
    assert other.state == "stopped"
    assert begun().state == "running"  # it can be started again
