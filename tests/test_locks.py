"""Locks between processes: one writer, who says who it is, and nobody stays locked out by the dead."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading

import pytest

from rationalize.errors import BusyError
from rationalize.files import write_json
from rationalize.locks import check_free, hold_folder, read_holder, take_lock, try_lock, wait_for_lock

HOLD = """
import sys, time
from pathlib import Path
from rationalize.locks import take_lock
held = take_lock(Path(sys.argv[1]))
print("held" if held else "refused", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "x.lock")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_lock_keeps_others_out_until_its_holder_is_gone(tmp_path, holder):
    with try_lock(tmp_path / "x.lock") as mine:
        assert not mine
    assert take_lock(tmp_path / "x.lock") is None
    holder.kill()
    with wait_for_lock(tmp_path / "x.lock"), try_lock(tmp_path / "x.lock") as mine:
        assert not mine
    with try_lock(tmp_path / "x.lock") as mine:
        assert mine


HOLD_FOLDER = """
import sys, time
from pathlib import Path
from rationalize.locks import hold_folder
with hold_folder(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_writer_is_refused_with_the_name_of_the_first_until_it_is_killed(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD_FOLDER, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    for enter in (lambda: check_free(tmp_path / "run"), hold_folder(tmp_path / "run").__enter__):
        with pytest.raises(BusyError, match=f"process {process.pid} on {socket.gethostname()}, since 20"):
            enter()
    process.kill()
    process.communicate()
    assert read_holder(tmp_path / "run").pid == process.pid  # it could not tidy up, which keeps nobody out
    with hold_folder(tmp_path / "run"):
        assert read_holder(tmp_path / "run").pid == os.getpid()
    assert read_holder(tmp_path / "run") is None
    check_free(tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]


def test_a_holder_that_has_not_said_who_it_is_still_keeps_others_out(tmp_path):
    write_json(tmp_path / ".holder.json", ["nonsense"])
    with try_lock(tmp_path / ".lock"), pytest.raises(BusyError, match="in use by another process"):
        check_free(tmp_path)


def test_a_name_that_was_never_finished_is_gone_once_somebody_else_holds_the_folder(tmp_path):
    (tmp_path / "..holder.json.part-1").write_text('{"pid": ')
    with hold_folder(tmp_path):
        assert sorted(path.name for path in tmp_path.iterdir()) == [".holder.json", ".lock"]


def test_the_same_process_is_no_exception(tmp_path):
    with hold_folder(tmp_path), pytest.raises(BusyError), hold_folder(tmp_path):
        pass


def test_waiting_lets_the_own_thread_in_again_and_no_other(tmp_path):
    entered = threading.Event()

    def enter():
        with wait_for_lock(tmp_path / "x.lock"):
            entered.set()

    other = threading.Thread(target=enter)
    with wait_for_lock(tmp_path / "x.lock"), wait_for_lock(tmp_path / "x.lock"):
        other.start()
        assert not entered.wait(0.2)
    other.join()
    assert entered.is_set()
