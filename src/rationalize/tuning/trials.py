"""Optuna's side of a search: values that depend on the seed and on finished trials alone, kept in SQLite."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rationalize.errors import ConfigError
from rationalize.seeding import derive_seed
from rationalize.tuning.search_plan import Dimension, SearchPlan

DATABASE = "study.db"


@dataclass(frozen=True, slots=True)
class Trial:
    """One set of values: its number from 0 on, and its dev score once it is known.

    Attributes:
        number: Its number.
        values: The settings tried, by dotted name.
        state: running (or interrupted), complete or failed.
        score: The number that decides.
    """

    number: int
    values: dict[str, Any]
    state: str
    score: float | None


def require_optuna() -> None:
    """Refuse to search without Optuna, before anything is read.

    Raises:
        ConfigError: With what to install.
    """
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise ConfigError(
            "tune: Optuna is not installed. Install what the search needs: pip install 'rationalize[tune]'"
        ) from None


class TrialStore:
    """The trials of a search. What is asked next depends on the seed and on the trials that are finished."""

    def __init__(self, folder: Path, plan: SearchPlan) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        logging.getLogger("alembic").setLevel(logging.WARNING)
        self._optuna, self._plan = optuna, plan
        address = f"sqlite:///{(folder / DATABASE).resolve()}"
        self._study: Any = optuna.create_study(
            storage=address, study_name="tune", direction=plan.direction, load_if_exists=True
        )

    def list_trials(self) -> list[Trial]:
        """List all trials in their order."""
        names = {"RUNNING": "running", "WAITING": "running", "COMPLETE": "complete"}
        return [
            Trial(each.number, dict(each.params), names.get(each.state.name, "failed"), each.value)
            for each in self._study.get_trials(deepcopy=False)
        ]

    def take(self, most: int) -> list[Trial]:
        """Return the trials to train next, side by side: those that were interrupted, and new ones chosen with them.

        Args:
            most: How many trials there may be in all.
        """
        found = self.list_trials()
        taken = [trial for trial in found if trial.state == "running"]
        for trial in taken:
            if set(trial.values) != set(self._plan.space):  # killed between being asked and having its values
                self.fail(trial)
        taken = [trial for trial in taken if set(trial.values) == set(self._plan.space)]
        count = len(found)
        while not taken or (count < most and count % self._plan.at_once):
            taken.append(self._ask(count))
            count += 1
        return taken

    def _ask(self, number: int) -> Trial:
        seed = derive_seed(self._plan.seed, "tune", number) % 2**32
        self._study.sampler = self._optuna.samplers.TPESampler(seed=seed)
        asked = self._study.ask()
        values = {name: _suggest(asked, name, each) for name, each in self._plan.space.items()}
        return Trial(asked.number, values, "running", None)

    def tell(self, trial: Trial, score: float) -> None:
        """Keep the score of a trial."""
        self._study.tell(trial.number, score)

    def fail(self, trial: Trial) -> None:
        """Keep that a trial came to nothing."""
        self._study.tell(trial.number, state=self._optuna.trial.TrialState.FAIL)

    def close(self) -> None:
        """Let go of the database."""
        self._study._storage.remove_session()


def _suggest(trial: Any, name: str, dimension: Dimension) -> Any:
    if dimension.choices is not None:
        return trial.suggest_categorical(name, list(dimension.choices))
    if dimension.is_whole:
        return trial.suggest_int(
            name, dimension.low, dimension.high, step=dimension.step or 1, log=dimension.log
        )
    return trial.suggest_float(name, dimension.low, dimension.high, step=dimension.step, log=dimension.log)
