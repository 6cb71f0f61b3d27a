"""Train with many settings, one run folder each, and keep what dev likes best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rationalize.data.dataset import DataSet
from rationalize.devices import resolve_device
from rationalize.errors import ConfigError, TrainingError
from rationalize.files import JsonObject, read_json, write_json, write_text
from rationalize.locks import hold_folder
from rationalize.reporting.card import render_card
from rationalize.runs.auto_preset import AUTO, look_at
from rationalize.runs.run import train
from rationalize.runs.settings import list_differences
from rationalize.runs.training_data import split_training_data
from rationalize.training.loop import Display
from rationalize.tuning.search_plan import SearchPlan
from rationalize.tuning.trials import Trial, TrialStore, require_optuna

PLAN, SUMMARY, BEST, TRIALS = "plan.json", "tuning.json", "best.yaml", "trials"


@dataclass(frozen=True, slots=True)
class TuningOutcome:
    """What a search has found so far.

    Attributes:
        out: Its folder.
        metric: The number of the dev evaluation that decides.
        direction: maximize or minimize.
        trials: All trials, in their order.
        best: The best complete one; None: there is none yet.
    """

    out: str
    metric: str
    direction: str
    trials: tuple[Trial, ...]
    best: Trial | None

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return asdict(self) | {"trials": [asdict(trial) for trial in self.trials]}


def tune(
    plan: SearchPlan,
    data: DataSet,
    out: Path,
    display: Display,
    *,
    trials: int,
    on_trial: Callable[[Trial], None] = lambda trial: None,
) -> TuningOutcome:
    """Search until so many trials are finished; go on where an earlier attempt stopped. Test is never read.

    Args:
        plan: What to search.
        data: The data set, with train and, if it has one, dev.
        out: Folder for the trials, the database and the results.
        display: Shows each training.
        trials: Finished trials, those of earlier attempts included.
        on_trial: Called before each trial.

    Raises:
        ConfigError: If the folder holds another search, Optuna is missing, or a setting is not valid.
    """
    if trials < 1:
        raise ConfigError(f"trials: saw {trials}, expected 1 or more.", field="trials")
    require_optuna()
    plan.check()
    first = plan.make_config({})
    resolve_device(first.device)
    looks = look_at(data.only(first.data.train), data.words) if plan.preset == AUTO else None
    with hold_folder(out, field="out"):
        _keep_plan(plan, out, split_training_data(plan.make_config({}, looks), data).fingerprint())
        study = TrialStore(out, plan)
        try:
            while sum(trial.state != "running" for trial in study.list_trials()) < trials:
                trial = study.take()
                on_trial(trial)
                _try(plan, data, out, display, study, trial, looks)
                _write(plan, out, study)
            return _write(plan, out, study)
        finally:
            study.close()


def _try(
    plan: SearchPlan, data: DataSet, out: Path, display: Display, study: TrialStore, trial: Trial, looks: Any
) -> None:
    """Train a trial to its end. Interrupted, it stays open, and another attempt resumes its run."""
    config = plan.make_config(trial.values, looks)
    folder = locate_trial(out, trial.number)
    try:
        train(config, split_training_data(config, data), folder, display, resume=True, card=render_card)
    except TrainingError as error:
        display.message(f"trial {trial.number} failed: {error}")
        study.fail(trial)
        return
    metrics = read_json(folder / "results.json")["dev"]["metrics"]
    score = metrics.get(plan.metric)
    if score is None:
        known = ", ".join(sorted(name for name, value in metrics.items() if value is not None))
        study.fail(trial)
        raise ConfigError(
            f"metric: saw {plan.metric!r}, which dev does not have here. Expected one of {known}.",
            field="metric",
        )
    study.tell(trial, float(score))


def locate_trial(out: Path, number: int) -> Path:
    """Return the run folder of a trial."""
    return out / TRIALS / f"{number:04d}"


def _keep_plan(plan: SearchPlan, out: Path, fingerprint: str) -> None:
    """Write the plan down; refuse a folder that holds another search."""
    now = {"plan": plan.model_dump(mode="json"), "data": fingerprint}
    path = out / PLAN
    if not path.is_file():
        write_json(path, now)
        return
    before = read_json(path)
    if changed := list_differences(before, now):
        raise ConfigError(
            "\n".join([f"{out}: holds another search.", *(f"  {line}" for line in changed)])
            + "\nGo on with the same plan and data, or choose another folder.",
            field="out",
        )


def _write(plan: SearchPlan, out: Path, study: TrialStore) -> TuningOutcome:
    found = tuple(study.list_trials())
    complete = [trial for trial in found if trial.score is not None]
    sign = 1 if plan.direction == "maximize" else -1
    best = max(complete, key=lambda trial: (sign * (trial.score or 0.0), -trial.number)) if complete else None
    outcome = TuningOutcome(str(out), plan.metric, plan.direction, found, best)
    write_json(out / SUMMARY, outcome.to_dict())
    if best is not None:
        resolved = locate_trial(out, best.number) / "config.resolved.yaml"
        write_text(out / BEST, resolved.read_text(encoding="utf-8"))
    return outcome
