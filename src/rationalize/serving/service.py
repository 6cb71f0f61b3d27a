"""The served models, by name."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from rationalize.serving._attendance import Attendance
from rationalize.serving._model_worker import ModelWorker
from rationalize.serving._schema import ModelShape
from rationalize.serving._service_metrics import ServiceMetrics
from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.serve_settings import ServeSettings
from rationalize.serving.served_model import Loader

TELLING_S = 0.2


class Service:
    """Workers, settings and counters of one application."""

    def __init__(
        self,
        settings: ServeSettings,
        models: Mapping[str, Path],
        load: Loader,
        attendance: Attendance | None = None,
    ) -> None:
        self.settings = settings
        self.metrics = ServiceMetrics(attendance.folder if attendance else None)
        self._attendance = attendance
        self.workers: dict[str, ModelWorker] = {}
        self._load = load
        self._started = False
        for name, folder in models.items():
            self._employ(name, folder)

    def start(self) -> None:
        """Start loading all models; the service answers meanwhile."""
        self._started = True
        for worker in self.workers.values():
            worker.start()
        if self._attendance is not None:
            threading.Thread(target=self._attend, args=(self._attendance,), daemon=True).start()

    def stop(self) -> None:
        """Finish waiting texts."""
        for worker in self.workers.values():
            worker.stop()

    def add(self, name: str, folder: Path) -> None:
        """Serve one more model, loaded from now on or from the start; a name that is known keeps its model."""
        if name not in self.workers:
            worker = self._employ(name, folder)
            if self._started:
                worker.start()

    def _employ(self, name: str, folder: Path) -> ModelWorker:
        worker = ModelWorker(name, folder, self.settings, self._load, self.metrics)
        self.workers = {**self.workers, name: worker}  # a new one: others may be going through the old one
        return worker

    @property
    def ready(self) -> bool:
        """Whether every model answers, in all processes that serve together."""
        return self._is_ready_here() and (self._attendance is None or self._attendance.is_complete())

    def _is_ready_here(self) -> bool:
        return all(worker.state == "ready" for worker in self.workers.values())

    def _attend(self, attendance: Attendance) -> None:
        """Tell the other processes how things are here, for good."""
        while True:
            attendance.report(ready=self._is_ready_here())
            self.metrics.update()
            time.sleep(TELLING_S)

    def pick(self, name: str | None) -> ModelWorker:
        """Return the model with a name, or the only one."""
        known = ", ".join(self.workers)
        if not self.workers:
            raise ApiProblem(
                404, "there is no model yet", where="model", expected="a model, given or trained"
            )
        if name is None:
            if len(self.workers) > 1:
                raise ApiProblem(422, "several models are served", where="model", expected=f"one of {known}")
            return next(iter(self.workers.values()))
        if name not in self.workers:
            raise ApiProblem(404, "no such model", where="model", expected=f"one of {known}")
        return self.workers[name]

    def describe_models(self) -> list[ModelShape]:
        """Describe each model for callers."""
        return [
            ModelShape.model_validate(
                {
                    "name": name,
                    "state": worker.state,
                    "why": worker.why,
                    **({**asdict(worker.facts), "labels": list(worker.facts.labels)} if worker.facts else {}),
                }
            )
            for name, worker in self.workers.items()
        ]
