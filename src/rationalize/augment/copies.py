"""Make augmented copies of any kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from rationalize.augment.counterfactual import KIND, augment_counterfactual, check_evidence
from rationalize.augment.random import augment_random, collect_words
from rationalize.augment.semantic import EXACT_VECTORS, OnRecall, augment_semantic
from rationalize.errors import ConfigError, DataError
from rationalize.inference.engine import Engine
from rationalize.inference.vector_file import represent_in_folder
from rationalize.inference.vectors import Represented, represent
from rationalize.seeding import derive_seed
from rationalize.text.words import PLAIN, WordRule, find_word_bounds
from rationalize.types import Example


def augment_examples(
    examples: Sequence[Example],
    kind: str,
    *,
    n: int | None = None,
    more: Sequence[Example] = (),
    seed: int = 0,
    rule: WordRule = PLAIN,
    finder: Engine | None = None,
    exact_vectors: int = EXACT_VECTORS,
    on_recall: OnRecall = lambda recall: None,
) -> list[Example]:
    """Make copies of examples that have `shortcuts` or, for counterfactual ones, gold; see `make_copies`.

    Args:
        examples: Annotated examples with their shortcuts.
        kind: random, semantic, mixed or counterfactual.
        n: Number of copies; None: as many as there are examples.
        more: More examples to draw random words from.
        seed: Decides which examples and which words.
        rule: The definition of a word; a finder's own replaces it.
        finder: The trained Un-RAT whose encoder makes the vectors (semantic and mixed).
        exact_vectors: As the setting `augment.exact_vectors`.
        on_recall: Called with the recall of the search, if it is approximate.
    """
    if kind == KIND:
        check_evidence(examples)
    elif not any(example.shortcuts for example in examples):
        raise DataError(
            "no example has shortcuts. Find them first: `rationalize shortcuts discover`.", field="shortcuts"
        )
    rule = finder.text.words if finder else rule
    return make_copies(
        kind,
        examples,
        [*examples, *more],
        n or len(examples),
        seed,
        rule,
        finder,
        exact_vectors=exact_vectors,
        on_recall=on_recall,
    )


def make_copies(
    kind: str,
    gold: Sequence[Example],
    everything: Sequence[Example],
    n: int,
    seed: int,
    rule: WordRule,
    finder: Engine | None = None,
    *,
    exact_vectors: int = EXACT_VECTORS,
    on_recall: OnRecall = lambda recall: None,
) -> list[Example]:
    """Make augmented copies of annotated examples.

    Args:
        kind: random, semantic, mixed (`n` copies of both), or counterfactual.
        gold: Annotated examples with their shortcuts; those without a shortcut are left out, and of counterfactual
            copies those in which nothing is marked.
        everything: All training examples; random words are drawn from them.
        n: Number of copies. Semantic copies are at most one per example; others start over.
        seed: Decides which examples and which words.
        rule: The definition of a word.
        finder: The trained Un-RAT whose encoder makes the vectors (semantic and mixed), with the same rule.
        exact_vectors: As the setting `augment.exact_vectors`.
        on_recall: Called with the recall of the search, if it is approximate.
    """
    if kind == KIND:
        return augment_counterfactual(gold, n, seed)
    sources = sorted(
        (each for each in gold if each.shortcuts), key=lambda each: derive_seed(seed, "augment", each.id)
    )
    copies: list[Example] = []
    if kind in {"random", "mixed"} and sources:
        bag = collect_words(everything, rule)
        copies += [
            augment_random(sources[i % len(sources)], bag, seed, rule, i // len(sources)) for i in range(n)
        ]
    if kind in {"semantic", "mixed"} and sources:
        if finder is None:
            raise ConfigError(f"augmentation {kind!r} needs a trained un_rat for the word vectors.")
        # As in the paper, all annotated examples can be neighbors, not only the copied ones.
        with _represent(finder, gold, rule, exact_vectors) as vectors:
            near = augment_semantic(gold, vectors, rule, exact_vectors, on_recall)
        copied = dict(zip((each.id for each in gold), near, strict=True))
        copies += [copied[source.id] for source in sources[:n]]
    return copies


@contextmanager
def _represent(
    finder: Engine, examples: Sequence[Example], rule: WordRule, exact_vectors: int
) -> Iterator[Sequence[Represented]]:
    """Yield the examples as vectors: in memory, or in a temporary folder if they have more words than that."""
    words = accumulate(sum(1 for _ in find_word_bounds(each.text, rule)) for each in examples)
    if not any(total > exact_vectors for total in words):
        yield represent(finder, examples)
        return
    with TemporaryDirectory(prefix="rationalize-") as folder:
        yield represent_in_folder(finder, examples, Path(folder))
