"""The one scoring recipe: explain, read queries alone, measure faithfulness if wanted, score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from rationalize.data.splits import limit
from rationalize.evaluation._faithfulness import Faithfulness, check_removal, measure_faithfulness
from rationalize.evaluation._query_alone import predict_queries
from rationalize.evaluation.bag_of_words import BagOfWords
from rationalize.evaluation.evaluation import Evaluation
from rationalize.evaluation.removal import Removal
from rationalize.evaluation.scoring import evaluate
from rationalize.inference.engine import Engine, Explained
from rationalize.types import Example

OnProgress = Callable[[int, int], None]
"""Called with how much is done, and how much there is to do."""
Item = TypeVar("Item")

REDUCED = 12
"""Reading all reduced versions of a text costs about as much as explaining it this many times."""


def evaluate_model(
    engine: Engine,
    examples: Iterable[Example],
    *,
    split: str = "given",
    truncate: bool = False,
    faithfulness: Removal | None = None,
    faithfulness_limit: int | None = None,
    seed: int = 0,
    bag: BagOfWords | None = None,
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Compute every metric of a model on labeled examples.

    Args:
        engine: The model.
        examples: The examples to score.
        split: A name for them.
        truncate: Read only what fits the encoder.
        faithfulness: Also measure comprehensiveness and sufficiency: `drop` deletes words, `mask` hides them.
        faithfulness_limit: Measure these on at most this many examples (a stratified sample).
        seed: Seed of the random trivial selector.
        bag: A bag of words trained on the model's examples, to score beside it.
        on_progress: Called with how much is done and how much there is to do, in texts explained.
    """
    if faithfulness:
        check_removal(faithfulness)
    given = list(examples)
    reduced = sample_for_faithfulness(given, faithfulness_limit) if faithfulness else []
    count = _Count(len(given) + REDUCED * len(reduced), on_progress)
    explained = list(count.pass_on(engine.explain(given, truncate=truncate), 1))
    measured: Faithfulness | None = None
    if faithfulness:
        chosen = {example.id for example in reduced}
        wanted: list[Explained] = [item for item in explained if item.encoded.example.id in chosen]
        # The random words do not depend on the seed, so that all runs compare with the same ones.
        measured = measure_faithfulness(engine, count.pass_on(wanted, REDUCED), removal=faithfulness)
    return evaluate(
        explained,
        split=split,
        seed=seed,
        faithfulness=measured,
        of_queries=predict_queries(engine, given),
        of_bag=bag.predict(given) if bag else None,
    )


def sample_for_faithfulness(examples: Sequence[Example], most: int | None) -> Sequence[Example]:
    """Choose the examples whose reduced texts are read: all, or a stratified sample that depends on them alone."""
    return limit(examples, most) if most else examples


class _Count:
    """Counts passing items and reports the count."""

    def __init__(self, total: int, on_progress: OnProgress | None) -> None:
        self.total = total
        self.done = 0
        self.on_progress = on_progress

    def pass_on(self, items: Iterable[Item], weight: int) -> Iterator[Item]:
        for item in items:
            yield item
            self.done += weight
            if self.on_progress:
                self.on_progress(self.done, self.total)
