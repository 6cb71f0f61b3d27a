"""Optional functions of a method: each is called if the method defines it.

None is in the base class, so that most methods need not know them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from torch import Tensor

    from rationalize.methods.base import Output
    from rationalize.methods.preparing import Additions, Workbench
    from rationalize.text.batch import Batch


@runtime_checkable
class Prepares(Protocol):
    """Needs artifacts before training: copies of examples, environments, another model."""

    @classmethod
    def prepare(cls, options: Any, bench: Workbench) -> Additions:
        """Make what training needs, as artifacts that a resumed run reads back, and return what joins the data."""
        ...


@runtime_checkable
class HearsLabels(Protocol):
    """Uses the distribution of the labels."""

    def see_labels(self, labels: Tensor) -> None:
        """Receive the class numbers of all training examples, once before training."""
        ...


@runtime_checkable
class HearsEpochs(Protocol):
    """Does something between epochs."""

    def begin_epoch(self, epoch: int) -> None:
        """Prepare for an epoch (counted from 0, pretraining included), before its first batch."""
        ...


@runtime_checkable
class DecidesAlone(Protocol):
    """Can predict its label without a rationale, more cheaply."""

    def decide(self, batch: Batch) -> Output:
        """Predict as `explain` does, for callers that need the label alone; the mask may be empty."""
        ...


@runtime_checkable
class KnowsOracle(Protocol):
    """Can be given the gold label, as some methods were published; the result is no explanation."""

    def explain_oracle(self, batch: Batch) -> Output:
        """Select as `explain` does, with `batch.labels` known."""
        ...
