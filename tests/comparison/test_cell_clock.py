"""A cell's time is that of all processes that worked on it."""

from __future__ import annotations

from rationalize.comparison._cell_clock import CellClock


class Time:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_the_time_of_killed_processes_counts(tmp_path):
    time = Time()
    first = CellClock(tmp_path / "cell.json", time)
    for _ in range(4):
        time.now += 3
        first.tick()  # notes at 6 and 12, then it is killed
    time.now += 1000  # nobody works
    second = CellClock(tmp_path / "cell.json", time)
    time.now += 10
    second.score()
    time.now += 5
    seconds = second.read()
    assert (seconds.training, seconds.scoring, seconds.total) == (22.0, 5.0, 27.0)
    second.close()
    assert not (tmp_path / "cell.json").exists()


def test_a_clock_that_cannot_be_read_begins_anew(tmp_path):
    (tmp_path / "cell.json").write_text("[")
    assert CellClock(tmp_path / "cell.json", Time()).read().total == 0
