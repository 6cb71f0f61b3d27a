"""Choose the epoch to keep, and when to stop, by dev scores alone."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ScoredEpoch:
    """An epoch and its dev scores.

    Attributes:
        number: The epoch's number, from 0.
        score: The score that chooses epochs, between 0 and 1; None: choose the newest.
        task: Task F1.
        counts: Whether it may be chosen; a pretraining epoch may not.
        settled: Whether the method meets its own condition, which outranks any score; see `methods.hooks.Settles`.
    """

    number: int
    score: float | None
    task: float = 0.0
    counts: bool = True
    settled: bool = True


@dataclass(frozen=True)
class Standing:
    """The best epoch so far.

    Attributes:
        best_score: Best dev score so far.
        best_epoch: The epoch with that score.
        best_task: Task F1 of that epoch on dev.
        top_task: The highest task F1 on dev so far.
        stale: Settled epochs since the best one.
    """

    best_score: float | None = None
    best_epoch: int | None = None
    best_task: float = 0.0
    top_task: float = 0.0
    stale: int = 0


@dataclass(frozen=True)
class EpochChoice:
    """The rule that chooses the epoch to keep.

    Attributes:
        allowance: How far the kept epoch's task F1 may be below the highest; None: no limit.
        patience: Stop after this many epochs without a better one; None: never stop early.
    """

    allowance: float | None = None
    patience: int | None = None

    def judge(self, standing: Standing, epoch: ScoredEpoch) -> tuple[Standing, bool]:
        """Return the standing after an epoch, and whether to keep that epoch; of two equal ones, keep the earlier."""
        score = epoch.score
        if score is not None and not epoch.settled:
            score -= 1  # scores are between 0 and 1, so any settled epoch is now better
        if epoch.counts and epoch.settled:
            standing = replace(standing, top_task=max(standing.top_task, epoch.task))
        if self._falls_behind(standing.best_task, standing):
            standing = replace(standing, best_score=None)
        better = score is None or standing.best_score is None or score > standing.best_score
        if epoch.counts and better and not self._falls_behind(epoch.task, standing):
            return Standing(score, epoch.number, epoch.task, standing.top_task), True
        return replace(standing, stale=standing.stale + int(epoch.counts and epoch.settled)), False

    def is_out_of_patience(self, standing: Standing) -> bool:
        """Return whether training should stop waiting for a better epoch."""
        return self.patience is not None and standing.stale >= self.patience

    def _falls_behind(self, task: float, standing: Standing) -> bool:
        """Return whether a task F1 is too far below the highest so far."""
        return self.allowance is not None and task < standing.top_task - self.allowance
