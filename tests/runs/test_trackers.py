"""Reports to trackers: what is sent, what is refused, and that training survives a tracker."""

from __future__ import annotations

import pytest

from rationalize.config import RunConfig, TrainingConfig
from rationalize.errors import ConfigError
from rationalize.runs import trackers
from rationalize.runs.trackers import TrackedDisplay, report_training, require_tracker


class Screen:
    def __init__(self):
        self.seen = []

    def start(self, total, resumed_at=0):
        self.seen.append(("start", total, resumed_at))

    def step(self, phase, step, losses):
        self.seen.append(("step", step))

    def epoch(self, epoch, dev, best):
        self.seen.append(("epoch", epoch))

    def message(self, text):
        self.seen.append(("message", text))


class FakeTracker:
    def __init__(self, broken=False):
        self.broken, self.sent = broken, []

    def start(self):
        self.sent.append("start")

    def store_init_configuration(self, values):
        self.sent.append(values)

    def log(self, values, step=None):
        if self.broken:
            raise OSError("no network")
        self.sent.append((step, values))

    def finish(self):
        self.sent.append("finish")


def play(display):
    display.start(4, 0)
    for step in (1, 2, 3, 4):
        display.step("main", step, {"task": 0.5})
    display.epoch(0, {"task_f1": 0.75}, True)


def test_losses_now_and_then_and_every_dev_score():
    screen, tracker = Screen(), FakeTracker()
    play(TrackedDisplay(screen, tracker, every=2))
    assert tracker.sent == [
        (2, {"loss/main/task": 0.5}),
        (4, {"loss/main/task": 0.5}),
        (4, {"epoch": 1, "dev/task_f1": 0.75}),
    ]
    assert [each[0] for each in screen.seen] == ["start", *["step"] * 4, "epoch"]


def test_training_survives_its_tracker():
    screen = Screen()
    play(TrackedDisplay(screen, FakeTracker(broken=True), every=1))
    messages = [text for kind, text in (each[:2] for each in screen.seen) if kind == "message"]
    assert len(messages) == 1
    assert "no network" in messages[0]


def test_a_run_is_opened_and_closed_whatever_happens(monkeypatch, tmp_path):
    tracker = FakeTracker()
    monkeypatch.setattr(trackers, "make_tracker", lambda kind, folder: tracker)
    monkeypatch.setattr(trackers, "require_tracker", lambda kind: None)
    config = RunConfig(training=TrainingConfig(report_to="wandb"), data={"path": "/home/me/private"})
    with pytest.raises(KeyboardInterrupt), report_training(config, tmp_path, Screen()):
        raise KeyboardInterrupt
    assert (tracker.sent[0], tracker.sent[-1]) == ("start", "finish")
    assert tracker.sent[1]["rationalize.training.epochs"] == 10
    assert "/home/me/private" not in tracker.sent[1].values()
    screen = Screen()
    with report_training(RunConfig(), tmp_path, screen) as shown:
        assert shown is screen


def test_a_tracker_that_cannot_start_is_said_before_training(monkeypatch, tmp_path):
    def refuse():
        raise RuntimeError("no API key.\nLog in first.")

    tracker = FakeTracker()
    tracker.start = refuse
    monkeypatch.setattr(trackers, "make_tracker", lambda kind, folder: tracker)
    monkeypatch.setattr(trackers, "require_tracker", lambda kind: None)
    config = RunConfig(training=TrainingConfig(report_to="wandb"))
    said = r"wandb did not start: no API key. Log in first\. Set it up"
    with pytest.raises(ConfigError, match=said) as seen, report_training(config, tmp_path, Screen()):
        pass
    assert seen.value.fields == ("training.report_to",)


def test_a_report_that_cannot_be_closed_loses_no_training(monkeypatch, tmp_path):
    def refuse():
        raise OSError("no network")

    tracker, screen = FakeTracker(), Screen()
    tracker.finish = refuse
    monkeypatch.setattr(trackers, "make_tracker", lambda kind, folder: tracker)
    monkeypatch.setattr(trackers, "require_tracker", lambda kind: None)
    with report_training(RunConfig(training=TrainingConfig(report_to="wandb")), tmp_path, screen):
        pass
    assert screen.seen == [("message", "warning: the report could not be closed (no network)")]


def test_the_log_of_accelerate_is_ready_for_every_tracker(tmp_path):
    """Trackers that run in every process (wandb, Trackio) do not see to it themselves, unlike TensorBoard."""
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    from accelerate.logging import get_logger
    from accelerate.state import PartialState

    PartialState._reset_state()
    trackers.make_tracker("tensorboard", tmp_path)
    get_logger("accelerate.tracking").debug("it does not refuse")


@pytest.mark.parametrize(
    ("missing", "words"), [("accelerate", r"rationalize\[trackers\]"), ("mlflow", "pip install mlflow")]
)
def test_what_is_missing_is_said(monkeypatch, missing, words):
    monkeypatch.setattr(trackers, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(ConfigError, match=words) as seen:
        require_tracker("mlflow")
    assert seen.value.fields == ("training.report_to",)
    require_tracker("none")


def test_tensorboard_writes_into_the_run_folder(tmp_path):
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    config = RunConfig(training=TrainingConfig(report_to="tensorboard", log_every=1))
    with report_training(config, tmp_path, Screen()) as shown:
        play(shown)
    assert list((tmp_path / "tensorboard").glob("**/events.out.tfevents*"))
