"""Which epoch is kept, and when to stop: decided from dev scores alone."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ScoredEpoch:
    """An epoch as dev sees it.

    Attributes:
        number: Of the epoch, from 0.
        score: By which epochs are chosen, a share; None: the newest is taken.
        task: Its task F1.
        counts: Whether it may be chosen at all; one of pretraining may not.
        settled: Whether the method has reached what comes before any score; see `Method.settled`.
    """

    number: int
    score: float | None
    task: float = 0.0
    counts: bool = True
    settled: bool = True


@dataclass(frozen=True)
class Standing:
    """What the epochs so far amount to.

    Attributes:
        best_score: Best dev score so far.
        best_epoch: The epoch that reached it.
        best_task: Its task F1 on dev.
        top_task: The highest task F1 on dev so far.
        stale: Settled epochs since then.
    """

    best_score: float | None = None
    best_epoch: int | None = None
    best_task: float = 0.0
    top_task: float = 0.0
    stale: int = 0


@dataclass(frozen=True)
class EpochChoice:
    """The rule by which an epoch is kept.

    Attributes:
        allowance: How far the task F1 of the kept epoch may be below the highest; None: as far as it likes.
        patience: Epochs without a better one after which training stops; None: it does not.
    """

    allowance: float | None = None
    patience: int | None = None

    def judge(self, standing: Standing, epoch: ScoredEpoch) -> tuple[Standing, bool]:
        """The standing after an epoch, and whether that is the one to keep; the earlier of two equal ones is."""
        score = epoch.score
        if score is not None and not epoch.settled:
            score -= 1  # scores are shares, so it is now worse than that of any settled epoch
        if epoch.counts and epoch.settled:
            standing = replace(standing, top_task=max(standing.top_task, epoch.task))
        if self._falls_behind(standing.best_task, standing):
            standing = replace(standing, best_score=None)
        better = score is None or standing.best_score is None or score > standing.best_score
        if epoch.counts and better and not self._falls_behind(epoch.task, standing):
            return Standing(score, epoch.number, epoch.task, standing.top_task), True
        return replace(standing, stale=standing.stale + int(epoch.counts and epoch.settled)), False

    def is_out_of_patience(self, standing: Standing) -> bool:
        """Whether it has waited long enough for a better epoch."""
        return self.patience is not None and standing.stale >= self.patience

    def _falls_behind(self, task: float, standing: Standing) -> bool:
        """Whether a task F1 is too far below the highest so far for its epoch to be kept."""
        return self.allowance is not None and task < standing.top_task - self.allowance
