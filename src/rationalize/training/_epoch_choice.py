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
        in_band: Whether it selects about as much as is wanted, which outranks any score: what selects more has an
            easier task, what selects less more often nothing.
    """

    number: int
    score: float | None
    task: float = 0.0
    counts: bool = True
    in_band: bool = True


@dataclass(frozen=True)
class Standing:
    """The best epoch so far.

    Attributes:
        best_score: Best dev score so far.
        best_epoch: The newest epoch with that score.
        best_task: Task F1 of that epoch on dev.
        top_task: The highest task F1 on dev so far, of epochs in the band.
        stale: Epochs in the band since the score was last improved.
        best_in_band: Whether the best epoch is in the band.
    """

    best_score: float | None = None
    best_epoch: int | None = None
    best_task: float = 0.0
    top_task: float = 0.0
    stale: int = 0
    best_in_band: bool = False


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
        """Return the standing after an epoch, and whether to keep that epoch.

        An epoch outside the band is kept only while none inside was seen. Of two equal ones, the later is kept: it
        has learned longer.
        """
        if not epoch.counts:
            return standing, False
        if epoch.in_band:
            standing = replace(standing, top_task=max(standing.top_task, epoch.task))
        waited = standing.stale + int(epoch.in_band)
        if self._falls_behind(epoch.task, standing) or not self._is_as_good(epoch, standing):
            return replace(standing, stale=waited), False
        stale = waited if self._only_equals(epoch, standing) else 0
        kept = Standing(epoch.score, epoch.number, epoch.task, standing.top_task, stale, epoch.in_band)
        return kept, True

    def is_out_of_patience(self, standing: Standing) -> bool:
        """Return whether training should stop waiting for a better epoch."""
        return self.patience is not None and standing.stale >= self.patience

    def _is_as_good(self, epoch: ScoredEpoch, standing: Standing) -> bool:
        """Return whether an epoch is at least as good as the best so far, which may have fallen behind by now."""
        if standing.best_epoch is None or self._falls_behind(standing.best_task, standing):
            return True
        if epoch.in_band != standing.best_in_band:
            return epoch.in_band
        if epoch.score is None or standing.best_score is None:
            return True
        return epoch.score >= standing.best_score

    def _only_equals(self, epoch: ScoredEpoch, standing: Standing) -> bool:
        """Return whether an epoch is kept only for being the later of two equal ones."""
        same = epoch.score is not None and epoch.score == standing.best_score
        return same and epoch.in_band == standing.best_in_band

    def _falls_behind(self, task: float, standing: Standing) -> bool:
        """Return whether a task F1 is too far below the highest so far."""
        return self.allowance is not None and task < standing.top_task - self.allowance
