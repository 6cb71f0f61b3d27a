"""Several processes that serve on one socket: they answer alike, count together, are replaced, and end together."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving_helpers import PATIENCE, get, post, wait_until

from helpers import is_alive
from rationalize.errors import ConfigError
from rationalize.serving import _team
from rationalize.serving._attendance import Attendance
from rationalize.serving._service_metrics import ServiceMetrics
from rationalize.serving.run_service import listen
from rationalize.serving.serve_settings import ServeSettings

COMMAND = [sys.executable, "-c", "from rationalize.cli.main import main; main()", "serve"]


@contextlib.contextmanager
def serving(folder, *flags) -> Iterator[tuple[subprocess.Popen, str]]:
    """A service of two processes, and its address, once both are ready."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("RATIONALIZE_API_KEY", None)
    with subprocess.Popen(
        [*COMMAND, str(folder), "--port", "0", "--workers", "2", *flags],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            address = re.search(r"http://\S+", process.stdout.readline())[0]
            wait_until(lambda: get(address, "/readyz")[0] == 200, every=0.2)
            yield process, address
        finally:
            process.kill()


def explain(address):
    return post(address, {"text": "a truly gripping story , released in winter"})["explanations"]


def list_workers(process) -> set[int]:
    """Processes that the service has started to serve."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    named = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return {child for child, line in named.items() if b"spawn_main" in line}


def count_answers(address) -> int:
    found = re.search(
        r'requests_total\{route="/v1/explain",status="200"\} ([\d.]+)', get(address, "/metrics")[1]
    )
    return int(float(found[1])) if found else 0


def test_processes_answer_alike_count_together_and_are_replaced(folder):
    with serving(folder) as (process, address):
        first = explain(address)
        assert first[0]["label"] in {"NEG", "POS"}
        for _ in range(29):  # each call is a connection, and any process may take it
            assert explain(address) == first
        wait_until(lambda: count_answers(address) == 30)
        wait_until(lambda: 'rationalize_model_ready{model="movies"} 1.0' in get(address, "/metrics")[1])

        before = list_workers(process)
        assert len(before) == 2
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: len(list_workers(process) - before) == 1, every=0.1)
        wait_until(lambda: get(address, "/readyz")[0] == 200, every=0.2)
        assert explain(address) == first
        wait_until(
            lambda: count_answers(address) == 31
        )  # those of the process that is gone are still counted

        workers = list_workers(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert not any(map(is_alive, workers))
        assert "ended with -9; another one is started" in process.stderr.read()


def test_nobody_serves_on_when_the_one_who_started_them_is_killed(folder):
    with serving(folder) as (process, address):
        workers = list_workers(process)
        process.kill()
        wait_until(lambda: not any(map(is_alive, workers)), every=0.1)
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=5)


def _end_at_once(*_: object) -> None:
    os._exit(7)


def test_processes_that_cannot_live_are_given_up(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(_team, "serve_as_worker", _end_at_once)
    handlers = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        with (
            listen("127.0.0.1", 0) as listener,
            pytest.raises(ConfigError, match="the last one with 7") as error,
        ):
            _team.run_team(ServeSettings(workers=2), {"m": Path("m")}, listener)
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
    assert error.value.fields == ("workers",)
    assert not {"OMP_NUM_THREADS", "PROMETHEUS_MULTIPROC_DIR"} & set(os.environ)


def test_all_have_to_be_there(tmp_path):
    one, other = (Attendance(tmp_path, number, 2) for number in range(2))
    one.report(ready=True)
    assert not one.is_complete()
    other.report(ready=True)
    assert one.is_complete()
    assert other.is_complete()
    one.report(ready=False)
    one.report(ready=False)
    assert not other.is_complete()


def test_one_process_alone_shows_its_own_state_and_itself():
    metrics, waiting = ServiceMetrics(), [3.0]
    metrics.watch_model("m", lambda: waiting[0], lambda: 1.0)
    assert b'rationalize_queue_texts{model="m"} 3.0' in metrics.render()
    waiting[0] = 0.0
    assert b'rationalize_queue_texts{model="m"} 0.0' in metrics.render()
    assert b"process_resident_memory_bytes" in metrics.render()
