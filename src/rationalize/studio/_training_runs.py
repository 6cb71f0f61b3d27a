"""Training from the page: each run is a folder with its data, its job and its run folder; one runs at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from rationalize.config import RunConfig, Settings, Share, Strict
from rationalize.data.data_files import ABOUT
from rationalize.data.dataset import DataSet
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import ConfigError
from rationalize.evaluation.evaluation import Evaluation
from rationalize.files import atomic_dir, read_json, write_json
from rationalize.runs.run_folder import is_finished, read_record
from rationalize.runs.settings import load_config
from rationalize.runs.training_data import split_training_data
from rationalize.studio._jobs import Job, JobState
from rationalize.studio.pool import Pool
from rationalize.studio.studio_export import make_training_examples
from rationalize.studio.studio_store import StudioStore
from rationalize.text.words import PLAIN
from rationalize.training.loop import read_epochs, read_log
from rationalize.types import Example

LEAST_SHARE = 0.25


class TrainChoice(Strict):
    """What a person chooses before a run."""

    method: str = "semi_rat"
    preset: str = "auto"
    encoder: str | None = None
    epochs: Annotated[int, Field(gt=0, le=1000)] | None = None
    gold_share: Share = LEAST_SHARE
    own_gold: bool = False
    """Also use the rationales that the data came with, where nobody has annotated here."""


@dataclass(frozen=True)
class RunView:
    """A run, ready to show.

    Attributes:
        name: Its name, also that of its model.
        state: How it stands.
        method: Id of its method.
        about: What it learned from, in one line.
        log: The end of what it has printed.
        epochs: Planned epochs; None: not known yet.
        epoch: Epochs done.
        step: Steps done, of the training that runs now.
        dev: Dev scores after the last epoch.
        results: Its evaluation on dev, at the end.
    """

    name: str
    state: JobState
    method: str
    about: str
    log: str
    epochs: int | None = None
    epoch: int = 0
    step: int = 0
    dev: Mapping[str, float] = field(default_factory=dict)
    results: Evaluation | None = None


class TrainingRuns:
    """The runs of a studio, in its folder `runs`."""

    def __init__(self, folder: Path, runner: Sequence[str], pool: Pool, store: StudioStore) -> None:
        self._folder = folder
        self._runner = runner
        self._pool = pool
        self._store = store
        self._jobs: dict[str, Job] = {}

    @property
    def names(self) -> list[str]:
        """All runs, the oldest first."""
        found = (each.name for each in self._folder.glob("run-*") if (each / "choice.json").is_file())
        return sorted(found, key=lambda name: int(name.partition("-")[2]))

    @property
    def finished(self) -> list[str]:
        """The runs that have a model."""
        return [name for name in self.names if is_finished(self.run_folder(name))]

    @property
    def running(self) -> str | None:
        """The run that is at work."""
        return next((name for name in self.names if self.job(name).is_alive), None)

    def run_folder(self, name: str) -> Path:
        """Return the run folder of a run."""
        return self._folder / name / "run"

    def job(self, name: str) -> Job:
        """Return the process of a run."""
        return self._jobs.setdefault(name, Job(self._folder / name, self._runner))

    def start(self, choice: TrainChoice, extra: Settings | None = None) -> str:
        """Write down what is known now, and train on it. Settings that cannot work are refused at once."""
        self._require_rest()
        examples = make_training_examples(
            self._pool, self._store.read_all(), self._store.read_verdicts(), own_gold=choice.own_gold
        )
        known = any(each.shortcuts for each in examples)
        settings = _to_settings(choice, known) | (extra or {})
        config = load_config(None, settings, preset=choice.preset)
        data = self._gather(examples)
        used = split_training_data(config, data)
        name = f"run-{max((int(each.partition('-')[2]) for each in self.names), default=0) + 1}"
        folder = self._folder / name
        with atomic_dir(folder / "data") as target:
            for split, part in data.splits.items():
                write_jsonl(target / f"{split}.jsonl", part)
            if data.words != PLAIN:
                write_json(target / ABOUT, {"words": data.words})
        about = f"{len(used.train)} texts, {len(used.gold_ids)} with a rationale"
        write_json(folder / "choice.json", {**choice.model_dump(), "about": about, "shortcuts": known})
        self.job(name).start([*_to_words(config, settings, choice.preset, folder), "--json"])
        return name

    def resume(self, name: str) -> None:
        """Continue a stopped run; one that was stopped before its first step starts again."""
        self._require_rest()
        job, folder = self.job(name), self.run_folder(name)
        record = job.record
        if record is None or job.state not in ("stopped", "failed"):
            raise ConfigError(f"{name}: is not stopped, so it cannot be resumed.")
        begun = read_record(folder) is not None
        job.start(["train", "--resume", str(folder), "--json"] if begun else record.words)

    def _require_rest(self) -> None:
        if self.running is not None:
            raise ConfigError(f"{self.running} is still training. Wait for its end, or stop it.")

    def _gather(self, examples: Sequence[Example]) -> DataSet:
        """Put the annotated split and dev together; training reads no other split."""
        splits = {"train": tuple(each for each in examples if each.label is not None)}
        if dev := self._pool.others.get("dev"):
            splits["dev"] = tuple(each for each in dev if each.label is not None)
        return DataSet(self._pool.name, splits, words=self._pool.words)

    def view(self, name: str) -> RunView:
        """Return how a run stands."""
        choice, job, folder = (
            read_json(self._folder / name / "choice.json"),
            self.job(name),
            self.run_folder(name),
        )
        state, record = job.state or "stopped", read_record(folder)
        rows, results = _read_rows(folder / "metrics.jsonl"), folder / "results.json"
        epochs = [row for row in rows if "epoch" in row]
        return RunView(
            name=name,
            state="finished" if state != "running" and is_finished(folder) else state,
            method=choice["method"],
            about=choice["about"],
            log=job.read_log(),
            epochs=record.config.training.epochs if record else None,
            epoch=len(epochs),
            step=max((row["step"] for row in rows if "step" in row), default=0),
            dev=epochs[-1]["dev"] if epochs else {},
            results=Evaluation.from_dict(read_json(results)["dev"]) if results.is_file() else None,
        )

    def read_curves(self, name: str) -> list[dict[str, Any]]:
        """Read the epochs of a run."""
        return read_epochs(self.run_folder(name))


def _to_settings(choice: TrainChoice, known_shortcuts: bool) -> Settings:
    given = {
        "method": choice.method,
        "encoder.name": choice.encoder or None,
        "training.epochs": choice.epochs,
        "data.gold_share": choice.gold_share,
        "shortcuts.source": "known" if known_shortcuts else None,
        "training.log_every": 5,
    }
    return {name: value for name, value in given.items() if value is not None}


def _to_words(config: RunConfig, settings: Settings, preset: str, folder: Path) -> list[str]:
    """Return the command that trains with these settings."""
    pairs = [f"{name}={value}" for name, value in settings.items() if name != "method"]
    return [
        "train",
        *("--data", str(folder / "data")),
        *("--method", config.method),
        *("--out", str(folder / "run")),
        *("--preset", preset),
        *(word for pair in pairs for word in ("--set", pair)),
    ]


def _read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the log of a run that may be writing it at this moment."""
    try:
        return read_log(path)
    except (FileNotFoundError, ValueError):
        return []
