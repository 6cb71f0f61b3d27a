"""Train with many settings, one run folder each, and keep what dev likes best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from rationalize.config import RunConfig
from rationalize.data.dataset import DataSet
from rationalize.devices import resolve_device
from rationalize.errors import ConfigError, TrainingError
from rationalize.files import JsonObject, read_json, write_json, write_text
from rationalize.locks import hold_folder
from rationalize.reporting.card import render_card
from rationalize.reporting.progress import TrainingDisplay
from rationalize.runs.auto_preset import AUTO, DataLooks, look_at
from rationalize.runs.run import train
from rationalize.runs.settings import list_differences
from rationalize.runs.training_data import split_training_data
from rationalize.training.loop import Display
from rationalize.tuning.search_plan import SearchPlan
from rationalize.tuning.trials import Trial, TrialStore, require_optuna
from rationalize.work.opening import open_workplace
from rationalize.work.workplace import Task, Workplace, run_tasks

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
    jobs: int | None = None,
    on: str | None = None,
    on_trial: Callable[[Trial], None] = lambda trial: None,
) -> TuningOutcome:
    """Search until so many trials are finished; go on where an earlier attempt stopped. Test is never read.

    Args:
        plan: What to search, and how many trials are chosen at once (`at_once`).
        data: The data set, with train and, if it has one, dev.
        out: Folder for the trials, the database and the results.
        display: Shows each training, if it runs in this process.
        trials: Finished trials, those of earlier attempts included.
        jobs: Number of training processes; None: one, this one.
        on: A Ray cluster instead: `ray`, or `ray://HOST:PORT`. Trials ask it for the plan's `resources`.
        on_trial: Called before each trial.

    Raises:
        ConfigError: If the folder holds another search, Optuna is missing, or a setting is not valid.
    """
    if trials < 1:
        raise ConfigError(f"trials: saw {trials}, expected 1 or more.", field="trials")
    require_optuna()
    plan.check()
    first = plan.make_config({})
    plan.resources.check_device(first.device) if on is not None else resolve_device(first.device)
    looks = look_at(data.only(first.data.train), data.words) if plan.preset == AUTO else None
    with open_workplace(on, jobs, plan.resources, out) as workplace, hold_folder(out, field="out"):
        _keep_plan(plan, out, split_training_data(plan.make_config({}, looks), data).fingerprint())
        study = TrialStore(out, plan)
        try:
            while sum(trial.state != "running" for trial in study.list_trials()) < trials:
                taken = study.take(trials)
                for trial in taken:
                    on_trial(trial)
                _try_all(plan, data, out, display, study, taken, looks, workplace)
            return _write(plan, out, study)
        finally:
            study.close()


@dataclass(frozen=True)
class TrialWork:
    """Trains a trial.

    Attributes:
        config: Its settings.
        data: What it learns from.
        folder: Its run folder; another one stands in for it where this is not seen.
        display: Shows progress; it cannot be sent elsewhere. None: nothing is shown.
    """

    config: RunConfig
    data: DataSet
    folder: Path
    display: Display | None = None

    def __call__(self, scratch: Path | None) -> str | None:
        """Train to the end; return why it came to nothing. Interrupted, another attempt resumes the run."""
        folder = self.folder if scratch is None else scratch / self.folder.name
        with nullcontext(self.display) if self.display else TrainingDisplay(quiet=True) as display:
            data = split_training_data(self.config, self.data)
            try:
                train(self.config, data, folder, display, resume=True, card=render_card)
            except TrainingError as error:
                return str(error)
        return None


def _try_all(
    plan: SearchPlan,
    data: DataSet,
    out: Path,
    display: Display,
    study: TrialStore,
    taken: Sequence[Trial],
    looks: DataLooks | None,
    workplace: Workplace,
) -> None:
    """Train trials to their ends, and write down each when it is there."""
    shown = display if workplace.is_here else None
    by_key = {locate_trial(out, trial.number).name: trial for trial in taken}
    tasks = []
    for key, trial in by_key.items():
        folder = locate_trial(out, trial.number)
        work = TrialWork(plan.make_config(trial.values, looks), data, folder, shown)
        tasks.append(Task(key, work, {key: folder}))
    with closing(
        run_tasks(
            workplace,
            tasks,
            lambda task: display.message(f"trial {task.key}: its worker was lost, begun again"),
        )
    ) as outcomes:
        for outcome in outcomes:
            trial = by_key[outcome.key]
            if outcome.problem is None:
                study.tell(trial, _read_score(plan, out, study, trial))
            else:
                display.message(f"trial {trial.number} failed: {outcome.problem}")
                study.fail(trial)
            _write(plan, out, study)


def _read_score(plan: SearchPlan, out: Path, study: TrialStore, trial: Trial) -> float:
    metrics = read_json(locate_trial(out, trial.number) / "results.json")["dev"]["metrics"]
    score = metrics.get(plan.metric)
    if score is None:
        known = ", ".join(sorted(name for name, value in metrics.items() if value is not None))
        study.fail(trial)
        raise ConfigError(
            f"metric: saw {plan.metric!r}, which dev does not have here. Expected one of {known}.",
            field="metric",
        )
    return float(score)


def locate_trial(out: Path, number: int) -> Path:
    """Return the run folder of a trial."""
    return out / TRIALS / f"{number:04d}"


def _keep_plan(plan: SearchPlan, out: Path, fingerprint: str) -> None:
    """Write the plan down; refuse a folder that holds another search."""
    now = {"plan": plan.model_dump(mode="json", exclude={"resources"}), "data": fingerprint}
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
