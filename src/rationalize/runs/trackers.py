"""Report a training to TensorBoard, MLflow, Weights & Biases or Trackio, through accelerate's trackers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from rationalize.config import RunConfig
from rationalize.errors import ConfigError
from rationalize.runs.settings import flatten_settings
from rationalize.training.loop import Display

PROJECT = "rationalize"
FIELD = "training.report_to"
NONE = "none"


class Tracker(Protocol):
    """What is used of accelerate's trackers."""

    def start(self) -> None:
        """Open the run."""

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """Send the settings."""

    def log(self, values: dict[str, Any], step: int | None = None) -> None:
        """Send numbers."""

    def finish(self) -> None:
        """Close the run."""


def require_tracker(kind: str) -> None:
    """Refuse a tracker whose packages are not installed, before anything is read or trained.

    Raises:
        ConfigError: With what to install.
    """
    if kind == NONE:
        return
    if find_spec("accelerate") is None:
        raise ConfigError(
            f"{FIELD}: {kind} is reached through accelerate, which is not installed: "
            "pip install 'rationalize[trackers]'",
            field=FIELD,
        )
    if find_spec(kind) is None:
        raise ConfigError(f"{FIELD}: {kind} is not installed: pip install {kind}", field=FIELD)


@contextmanager
def report_training(config: RunConfig, folder: Path, display: Display) -> Iterator[Display]:
    """Yield a display that also reports losses and dev scores where `training.report_to` says.

    Raises:
        ConfigError: If the tracker cannot start: its server is not there, or nobody is logged in.
    """
    kind = config.training.report_to
    if kind == NONE:
        yield display
        return
    require_tracker(kind)
    tracker = _start(kind, folder, config)
    try:
        yield TrackedDisplay(display, tracker, config.training.log_every)
    finally:
        _finish(tracker, display)


def _start(kind: str, folder: Path, config: RunConfig) -> Tracker:
    settings = flatten_settings(config.model_dump(mode="json", exclude={"data": {"path"}}), PROJECT)
    try:
        tracker = make_tracker(kind, folder)
        tracker.start()
        tracker.store_init_configuration(
            {name: value for name, value in settings.items() if isinstance(value, str | int | float | bool)}
        )
    except Exception as error:  # whatever a tracker raises; nothing is trained yet
        raise ConfigError(
            f"{FIELD}: {kind} did not start: {_say(error)}. Set it up as its own documentation says, or report "
            f"to {NONE!r}.",
            field=FIELD,
        ) from error
    return tracker


def _finish(tracker: Tracker, display: Display) -> None:
    try:
        tracker.finish()
    except Exception as error:  # what was trained is not lost for it
        display.message(f"warning: the report could not be closed ({_say(error)})")


def _say(error: Exception) -> str:
    """Return what a tracker says, on one line and no longer than can be read."""
    said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return said if len(said) <= 200 else f"{said[:200]}…"


def make_tracker(kind: str, folder: Path) -> Tracker:
    """Make a tracker; what it keeps on disk is in the run folder."""
    from accelerate import PartialState
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS

    PartialState()  # accelerate's log, which its trackers write to, refuses to work without it
    make: Any = LOGGER_TYPE_TO_CLASS[kind]
    tracker: Tracker
    if kind == "tensorboard":
        tracker = make("tensorboard", logging_dir=folder)
    elif kind == "mlflow":
        tracker = make(PROJECT, run_name=folder.name)
    elif kind == "wandb":
        tracker = make(PROJECT, name=folder.name, dir=str(folder))
    else:
        tracker = make(PROJECT, name=folder.name)
    return tracker


class TrackedDisplay:
    """A display that also reports. A tracker that fails is given up, not the training."""

    def __init__(self, display: Display, tracker: Tracker, every: int) -> None:
        self._display, self._tracker, self._every = display, tracker, every
        self._step = 0
        self._works = True

    def start(self, total_steps: int, resumed_at: int = 0) -> None:
        """Show that training starts."""
        self._step = resumed_at
        self._display.start(total_steps, resumed_at)

    def step(self, phase: str, step: int, losses: Mapping[str, float]) -> None:
        """Show a batch; report it now and then."""
        self._step = step
        self._display.step(phase, step, losses)
        if step % self._every == 0:
            self._report({f"loss/{phase}/{name}": value for name, value in losses.items()})

    def epoch(self, epoch: int, dev: Mapping[str, float], best: bool) -> None:
        """Show and report the dev scores of an epoch."""
        self._display.epoch(epoch, dev, best)
        self._report({"epoch": epoch + 1, **{f"dev/{name}": value for name, value in dev.items()}})

    def message(self, text: str) -> None:
        """Show a line of text."""
        self._display.message(text)

    def _report(self, values: dict[str, float]) -> None:
        if not self._works:
            return
        try:
            self._tracker.log(values, step=self._step)
        except Exception as error:  # whatever a tracker raises, the run goes on
            self._works = False
            self._display.message(f"warning: reporting failed ({_say(error)}); training goes on without it")
