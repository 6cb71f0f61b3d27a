"""Let a person rate on a local page until they stop."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rationalize.ratings.rating_store import RatingStore, check_person_name, lock_rater
from rationalize.ratings.session import Session
from rationalize.ratings.study import open_study
from rationalize.serving.run_service import run_app
from rationalize.serving.serve_settings import ServeSettings
from rationalize.studio.studio_app import create_rating_app


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """How many of a study's items a rater has rated."""

    done: int
    items: int

    @property
    def finished(self) -> bool:
        """Whether nothing is left to rate."""
        return self.done == self.items


def host_rater(
    folder: Path,
    rater: str,
    *,
    port: int = 0,
    on_open: Callable[[str, RaterProgress], None] = lambda url, progress: None,
) -> RaterProgress:
    """Serve the rating page until interrupted (Ctrl-C); every grade is saved at once.

    Args:
        folder: The study.
        rater: The person's name; the same name continues where it stopped.
        port: 0: any that is free.
        on_open: Gets the page's address and the progress so far, once the page can be opened.

    Raises:
        ConfigError: If the same rater is at work elsewhere, or the port is taken.
    """
    study = open_study(folder)
    with lock_rater(study, check_person_name(rater)):
        session = Session(study, RatingStore(study), rater)

        def measure_progress() -> RaterProgress:
            return RaterProgress(session.view().done, len(study.items))

        key, settings = secrets.token_urlsafe(24), ServeSettings(port=port)
        app = create_rating_app(study, rater, key, settings)
        with suppress(KeyboardInterrupt):
            run_app(app, settings, lambda address: on_open(f"{address}/?key={key}", measure_progress()))
        return measure_progress()
