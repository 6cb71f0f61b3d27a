"""The one scoring recipe: explain, read queries alone, take words away if that is asked for, score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from rationalize.data.splits import limit
from rationalize.evaluation.evaluation import Evaluation
from rationalize.evaluation.faithfulness import Faithfulness, check_removal
from rationalize.evaluation.faithfulness import faithfulness as measure
from rationalize.evaluation.query_alone import predict_queries
from rationalize.evaluation.removal import Removal
from rationalize.evaluation.scoring import evaluate
from rationalize.inference.engine import Engine, Explained
from rationalize.types import Example

OnProgress = Callable[[int, int], None]
"""Hears how much is done, and how much there is to do."""
Item = TypeVar("Item")

REDUCED = 12
"""Reading a text in all its reduced versions costs about as much as explaining it so many times."""


def evaluate_model(
    engine: Engine,
    examples: Iterable[Example],
    *,
    split: str = "given",
    truncate: bool = False,
    faithfulness: Removal | None = None,
    faithfulness_limit: int | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Every metric of a model on labeled examples.

    Args:
        engine: The model.
        examples: What it is scored on.
        split: What to call them.
        truncate: Read only what fits the encoder.
        faithfulness: Also comprehensiveness and sufficiency: `drop` deletes words, `mask` hides them.
        faithfulness_limit: Measure these on at most so many examples (a stratified sample).
        seed: Of the random trivial selector.
        on_progress: Hears how much is done and how much there is to do, in texts explained.
    """
    if faithfulness:
        check_removal(faithfulness)
    given = list(examples)
    reduced = faithfulness_sample(given, faithfulness_limit) if faithfulness else []
    count = _Count(len(given) + REDUCED * len(reduced), on_progress)
    explained = list(count.pass_on(engine.explain(given, truncate=truncate), 1))
    measured: Faithfulness | None = None
    if faithfulness:
        chosen = {example.id for example in reduced}
        wanted: list[Explained] = [item for item in explained if item.encoded.example.id in chosen]
        # The random words are the same whatever the seed, so that all runs stand beside the same ones.
        measured = measure(engine, count.pass_on(wanted, REDUCED), removal=faithfulness)
    return evaluate(
        explained, split=split, seed=seed, faithfulness=measured, of_queries=predict_queries(engine, given)
    )


def faithfulness_sample(examples: Sequence[Example], most: int | None) -> Sequence[Example]:
    """The examples whose reduced texts are read: all, or a stratified sample that depends on them alone."""
    return limit(examples, most) if most else examples


class _Count:
    """Counts what passes, and passes the count on."""

    def __init__(self, total: int, heard_by: OnProgress | None) -> None:
        self.total = total
        self.done = 0
        self.heard_by = heard_by

    def pass_on(self, items: Iterable[Item], weight: int) -> Iterator[Item]:
        for item in items:
            yield item
            self.done += weight
            if self.heard_by:
                self.heard_by(self.done, self.total)
