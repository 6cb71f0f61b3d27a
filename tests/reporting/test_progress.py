from __future__ import annotations

import io

import pytest
from rich.console import Console

from rationalize.reporting.progress import TrainingDisplay, show_progress, track
from rationalize.reporting.wording import format_dev_scores


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def recorder(**settings):
    return Console(file=io.StringIO(), width=120, **settings)


def lines(console):
    return console.file.getvalue().splitlines()


def test_without_a_terminal_lines_come_at_most_every_n_seconds(clock):
    console = recorder()
    with TrainingDisplay(every_s=10, console=console, clock=clock) as display:
        display.start(100)
        for step in range(1, 41):
            clock.now += 1
            display.step("supervised", step, {"task": 0.5, "select": 0.25})
    assert lines(console) == [
        f"{step}/100 supervised: task 0.500 select 0.250, {left} left"
        for step, left in [(10, "1:30"), (20, "1:20"), (30, "1:10"), (40, "1:00")]
    ]


def test_time_left_counts_from_the_resumption(clock):
    console = recorder()
    with TrainingDisplay(every_s=10, console=console, clock=clock) as display:
        display.start(100, resumed_at=80)
        clock.now += 10
        display.step("p", 85, {})
    assert lines(console)[0] == "resumed at step 80 of 100"
    assert lines(console)[1].endswith("0:30 left")


def test_epochs_are_always_shown_and_stay_in_view(clock):
    console = recorder()
    with TrainingDisplay(every_s=10, console=console, clock=clock) as display:
        display.start(10)
        display.epoch(0, {"task_f1": 0.875, "token_f1": 0.3, "selected_fraction": 0.2, "other": 1.0}, True)
        display.epoch(1, {}, False)
        display.epoch(2, {"task_f1": 0.5}, False)
        clock.now += 10
        display.step("p", 5, {"task": 1.0})
    assert lines(console) == [
        "epoch 1: dev task F1 87.5\u00a0%, token F1 30.0\u00a0%, selected 20.0\u00a0% (best so far)",
        "epoch 2: dev not scored",
        "epoch 3: dev task F1 50.0\u00a0%",
        "5/10 p: task 1.000 · dev task F1 50.0\u00a0%, 0:10 left",
    ]


def test_another_training_does_not_show_the_scores_of_the_one_before(clock):
    console = recorder()
    with TrainingDisplay(every_s=10, console=console, clock=clock) as display:
        display.start(1)
        display.epoch(0, {"task_f1": 0.875}, True)
        display.start(2)
        clock.now += 10
        display.step("p", 1, {})
    assert "87.5" in lines(console)[0]
    assert "87.5" not in lines(console)[1]


def test_quiet_says_nothing_but_warnings(clock):
    console = recorder(force_terminal=True, color_system=None)
    with TrainingDisplay(quiet=True, every_s=0, console=console, clock=clock) as display:
        display.start(10, resumed_at=5)
        display.step("p", 6, {"task": 1.0})
        display.epoch(0, {"task_f1": 0.5}, True)
        display.message("note")
        display.warn("look [here] \x1b[31m")
    assert lines(console) == ["warning: look [here] ␛[31m"]


def test_a_terminal_gets_one_live_line_that_goes_away(clock):
    console = recorder(force_terminal=True)
    with TrainingDisplay(console=console, clock=clock) as display:
        display.start(10)
        clock.now += 1
        display.step("supervised", 5, {"task": 0.5})
        display.message("a note that stays")
    written = console.file.getvalue()
    assert "a note that stays" in written
    assert "5/10" in written
    assert "0:01 left" in written
    assert written.endswith("\x1b[1A\x1b[2K")


def test_the_live_line_is_taken_away_after_an_error():
    console = recorder(force_terminal=True)

    def fail():
        with TrainingDisplay(console=console) as display:
            display.start(10)
            raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        fail()
    assert console.file.getvalue().endswith("\x1b[1A\x1b[2K")


def test_track_yields_everything_and_leaves_stdout_alone(capsys):
    assert list(track(iter("abc"), "reading", every_s=0)) == ["a", "b", "c"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[0].startswith("1 reading")


def test_track_knows_the_length_of_a_list(clock):
    console = recorder()
    for _ in track([1, 2, 3, 4], "explaining", every_s=2, console=console, clock=clock):
        clock.now += 1
    assert lines(console) == ["2/4 explaining, 0:02 left", "4/4 explaining, 0:00 left"]


def test_what_is_heard_is_shown(clock):
    console = recorder()
    with show_progress("evaluating", every_s=2, console=console, clock=clock) as hear:
        for done in (1, 2, 3, 4):
            clock.now += 1
            hear(done, 4)
    assert lines(console) == ["2/4 evaluating, 0:02 left", "4/4 evaluating, 0:00 left"]


def test_dev_scores_have_margins_and_the_number_of_examples():
    dev = {"task_f1": 0.89, "task_f1_margin": 0.0613, "selected_fraction": 0.2, "n": 100.0}
    assert format_dev_scores(dev) == "task F1 89.0 ± 6.1\u00a0%, selected 20.0\u00a0% (n=100)"
    assert format_dev_scores({"n": 100.0}) == ""
