"""What a method may be asked besides, if it has an answer: a method that has one of these functions is asked.

None of them is in the base class, so that most methods need not know them.
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
    """Needs something made before it trains, and kept: copies of examples, environments, another model."""

    @classmethod
    def prepare(cls, options: Any, bench: Workbench) -> Additions:
        """Make what training needs, as artifacts that a resumed run reads back, and say what joins the data."""
        ...


@runtime_checkable
class HearsLabels(Protocol):
    """Learns something from how the labels are distributed."""

    def see_labels(self, labels: Tensor) -> None:
        """Called once before training with the class numbers of all training examples."""
        ...


@runtime_checkable
class HearsEpochs(Protocol):
    """Does something between epochs."""

    def begin_epoch(self, epoch: int) -> None:
        """Called before the first batch of an epoch (counted from 0, pretraining included)."""
        ...


@runtime_checkable
class DecidesAlone(Protocol):
    """Knows its label without looking for a rationale, and that is cheaper."""

    def decide(self, batch: Batch) -> Output:
        """As `explain`, for callers who want the label alone; the mask may be empty."""
        ...


@runtime_checkable
class KnowsOracle(Protocol):
    """Can be given the gold label: how some methods were published, and no explanation."""

    def explain_oracle(self, batch: Batch) -> Output:
        """As `explain`, knowing `batch.labels`."""
        ...
