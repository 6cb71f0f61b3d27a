"""Let a person rate on a local page until they stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rationalize.ratings._rating_page import render_rating_page
from rationalize.ratings._rating_store import RatingStore, check_person_name, lock_rater
from rationalize.ratings._server import RatingServer
from rationalize.ratings._session import Session
from rationalize.ratings.study import open_study


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

        with RatingServer(session, render_rating_page, port) as server:
            on_open(server.url, measure_progress())
            with suppress(KeyboardInterrupt):
                server.serve_forever()
        return measure_progress()
