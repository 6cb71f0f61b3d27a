"""The pool: every chunk once, whoever dies; few in memory; errors come out as they are."""

from __future__ import annotations

import multiprocessing

import pytest
from pool_works import Complain, Note

from rationalize.corpus._chunk import Chunk
from rationalize.corpus._pool import run_in_processes
from rationalize.errors import ConfigError, DataError
from rationalize.types import Example


def chunks(count):
    return (Chunk(number, number, (Example(str(number), "a text"),)) for number in range(1, count + 1))


def test_a_killed_process_costs_nothing_and_chunks_are_read_as_processes_are_free(tmp_path):
    read = 0

    def read_chunks():
        nonlocal read
        for chunk in chunks(12):
            read += 1
            yield chunk

    done = []
    for chunk in run_in_processes(read_chunks(), Note(tmp_path, {3: 1, 4: 1}), 2):
        done.append(chunk.number)
        assert read - len(done) <= 3  # one in each process, one that waits
    assert sorted(done) == list(range(1, 13))
    assert all(len((tmp_path / f"done-{number}").read_text().split()) == 1 for number in done)
    assert (tmp_path / "tries-3").read_text() == (tmp_path / "tries-4").read_text() == "xx"
    assert multiprocessing.active_children() == []


def test_a_chunk_that_kills_twice_is_named(tmp_path):
    with pytest.raises(
        ConfigError, match=r"part 2 \(rows 2 to 2, from '2' on\).*ended 2 times.*-9"
    ) as caught:
        list(run_in_processes(chunks(3), Note(tmp_path, {2: 2}), 2))
    assert "resume" in caught.value.fields
    assert (tmp_path / "tries-2").read_text() == "xx"
    assert multiprocessing.active_children() == []


def test_errors_come_out_as_they_are():
    with pytest.raises(DataError, match="row 3 is odd") as caught:
        list(run_in_processes(chunks(3), Complain(2, "input"), 2))
    assert caught.value.fields == ("out",)
    with pytest.raises(OSError, match="No space left") as full:
        list(run_in_processes(chunks(3), Complain(2, "disk"), 2))
    assert full.value.filename == "part-1"
    with pytest.raises(RuntimeError, match="ZeroDivisionError: oops"):
        list(run_in_processes(chunks(3), Complain(2, "bug"), 2))


def test_an_interruption_ends_the_processes(tmp_path):
    done = run_in_processes(chunks(6), Note(tmp_path, {}), 2)
    next(done)
    with pytest.raises(KeyboardInterrupt):
        done.throw(KeyboardInterrupt)
    assert multiprocessing.active_children() == []
