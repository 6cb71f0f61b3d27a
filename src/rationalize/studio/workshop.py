"""A studio's parts: its folder, texts, decisions, models, runs and audit."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from rationalize.errors import ConfigError
from rationalize.ratings.study import Study
from rationalize.serving.serve_settings import ServeSettings
from rationalize.serving.served_model import Loader, load_served_model
from rationalize.serving.service import Service
from rationalize.studio._decisions import Suggestion
from rationalize.studio._queue_order import ORDERINGS, Ordering, order_texts
from rationalize.studio._studio_audit import StudioAudit
from rationalize.studio._training_runs import TrainingRuns
from rationalize.studio.pool import Pool
from rationalize.studio.studio_store import DATABASE, StudioStore

KEY = "access-key"
SUGGESTING = "suggesting model"
STEPS = 10
"""How often the order is made anew while the model reads all texts."""


class Studio:
    """Everything that the pages of one studio work with.

    Args:
        folder: Where it keeps everything.
        pool: The texts.
        settings: Address, key and limits of the server.
        models: Folders of given models, by name.
        runner: The words that start a command in the background, see `cli/studio_job.py`.
        study: A study whose rationales people can grade.
        seed: Decides the random order.
        load: Loads one model.
    """

    def __init__(
        self,
        folder: Path,
        pool: Pool,
        settings: ServeSettings,
        *,
        models: Mapping[str, Path],
        runner: Sequence[str],
        study: Study | None = None,
        seed: int = 0,
        load: Loader = load_served_model,
    ) -> None:
        self.folder = folder
        self.pool = pool
        self.settings = settings
        self.study = study
        self.store = StudioStore(folder / DATABASE, pool.fingerprint)
        self.service = Service(settings, models, load)
        self.runs = TrainingRuns(folder / "runs", runner, pool, self.store)
        self.audit = StudioAudit(folder / "audit", runner, pool, self.store)
        self.stopping = threading.Event()
        self._seed = seed
        self._orders: dict[tuple[Ordering, str | None, int], list[int]] = {}
        self._ordering = threading.Lock()
        self._adopted = set(self.runs.finished)
        wanted = {*self.runs.finished[-1:], self.store.read_fact(SUGGESTING)}
        for name in self.runs.finished:
            if name in wanted:
                self.service.add(name, self.runs.run_folder(name))

    def close(self) -> None:
        """Stop what is at work; it can be resumed."""
        self.stopping.set()
        for name in self.runs.names:
            self.runs.job(name).stop()
        self.audit.job.stop()
        self.store.close()

    # Models

    @property
    def suggesting(self) -> str | None:
        """The model whose suggestions are shown: the chosen one, or the newest."""
        chosen, known = self.store.read_fact(SUGGESTING), list(self.service.workers)
        return chosen if chosen in known else (known[-1] if known else None)

    def use_model(self, name: str) -> None:
        """Load the model of a run, if it is not, and show its suggestions from now on."""
        if name in self.runs.finished:
            self.service.add(name, self.runs.run_folder(name))
        if name not in self.service.workers:
            raise ConfigError(f"model: saw {name!r}, expected one of {', '.join(self.list_models())}.")
        self.store.save_fact(SUGGESTING, name)

    def adopt_finished(self) -> None:
        """Use the model of a run that has come to its end since the last look."""
        for name in self.runs.finished:
            if name not in self._adopted:
                self._adopted.add(name)
                self.use_model(name)

    def list_models(self) -> list[str]:
        """All models, loaded or not."""
        return list(dict.fromkeys([*self.service.workers, *self.runs.finished]))

    def read_suggestion(self, number: int) -> Suggestion | None:
        """Return what the model would mark in a text, if it has read it."""
        model = self.suggesting
        return self.store.read_suggestions(model, number).get(number) if model else None

    # Order

    def order(self, ordering: Ordering) -> list[int]:
        """Return all texts in an order; it is made anew whenever the model has read another part of them."""
        model = self.suggesting if ordering != "random" else None
        read = len(self.store.list_suggested(model)) if model else 0
        key = (ordering, model, read * STEPS // len(self.pool))
        with self._ordering:
            if key not in self._orders:
                suggestions = self.store.read_suggestions(model) if model else {}
                self._orders = {known: each for known, each in self._orders.items() if known[0] != ordering}
                self._orders[key] = order_texts(self.pool, ordering, suggestions, self._seed)
            return self._orders[key]

    def find_next(self, person: str, after: int | None = None) -> int | None:
        """Return the next text, in the person's order, that they have neither done nor skipped."""
        settled = {each.number for each in self.store.read_all(person) if each.state != "open"}
        left = [number for number in self.order(self.get_ordering(person)) if number not in settled]
        rest = [number for number in left if number != after]
        return rest[0] if rest else (left[0] if left else None)

    def get_ordering(self, person: str) -> Ordering:
        """Return the order that a person has chosen."""
        chosen = self.store.read_people().get(person)
        return next((each for each in ORDERINGS if each == chosen), ORDERINGS[0])


def get_access_key(folder: Path) -> str:
    """Return the folder's own key for browsers, the same at every start, readable by its owner only."""
    path = folder / KEY
    if not path.is_file():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(24), encoding="utf-8")
    return path.read_text(encoding="utf-8").strip()
