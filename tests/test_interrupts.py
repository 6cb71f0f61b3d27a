"""Ctrl-C and SIGTERM: noted, acted upon after the step, and at once the second time."""

from __future__ import annotations

import os
import pickle
import signal
import threading

import pytest

from rationalize.interrupts import Interrupted, defer_signals, raise_when_terminated

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_waits_and_the_second_does_not(number, code):
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(Interrupted) as stop, defer_signals() as stopping:  # noqa: PT012
        stopping.interrupt("nothing came")
        os.kill(os.getpid(), number)
        assert stopping.number == number
        with pytest.raises(Interrupted, match="saved step 3"):
            stopping.interrupt("saved step 3")
        os.kill(os.getpid(), number)
    assert stop.value.exit_code == code
    assert "second time" in str(stop.value)
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with defer_signals() as stopping:
            os.kill(os.getpid(), signal.SIGINT)
        assert stopping.number is None
    finally:
        signal.signal(signal.SIGINT, before)


def test_termination_ends_work_as_an_interrupt_does():
    with pytest.raises(Interrupted, match="terminated") as stop, raise_when_terminated():
        os.kill(os.getpid(), signal.SIGTERM)
    assert stop.value.exit_code == 143


def test_other_threads_leave_signals_alone():
    with threading.Lock():
        found = []
        thread = threading.Thread(target=lambda: found.append(defer_signals().__enter__().number))
        thread.start()
        thread.join()
    assert found == [None]


def test_it_survives_the_way_out_of_another_process():
    copied = pickle.loads(pickle.dumps(Interrupted("saved", signal.SIGTERM)))
    assert (str(copied), copied.exit_code) == ("saved", 143)
