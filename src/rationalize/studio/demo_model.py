"""The first model of the demo: small, and fallen for the shortcut, so that there is something to find."""

from __future__ import annotations

from rationalize.studio._training_runs import TrainChoice
from rationalize.studio.workshop import Studio


def train_demo_model(studio: Studio) -> None:
    """Start to train an Un-RAT on the planted corpus, if no run has been started here."""
    if not studio.runs.names:
        studio.store.save_fact("preset", "planted")
        studio.runs.start(TrainChoice(method="un_rat", preset="planted"))
