"""Semantic augmentation: a shortcut word becomes the word nearest in meaning in the nearest other example.

Two datastores, as in the paper: a global one of whole-text vectors finds the neighbor x^r of x; a local one of
x^r's word vectors finds the replacement of each shortcut word. Vectors come from the encoder of the trained
Un-RAT. Words that are gold in x or in x^r are never used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rationalize.inference.retrieval import VectorStore
from rationalize.inference.vector_file import RepresentedFile
from rationalize.inference.vector_index import IndexedStore, needs_index
from rationalize.inference.vectors import Represented
from rationalize.text.replace import find_replaceable_words, replace_words
from rationalize.text.words import WordRule, word_mask, word_spans
from rationalize.types import Example

EXACT_VECTORS = 200_000
"""Texts among which the nearest is searched for exactly, unless another number is set."""

OnRecall = Callable[[float], None]
"""Called with the recall of an approximate search."""


def describe_recall(recall: float) -> str:
    """Say how good an approximate search was."""
    return f"near texts were searched for through an index; it finds the nearest of {recall:.1%} of a sample"


def find_neighbors(
    vectors: np.ndarray,
    ids: Sequence[str],
    exact_vectors: int = EXACT_VECTORS,
    on_recall: OnRecall = lambda recall: None,
) -> list[int]:
    """Find each text's nearest other text by L2 distance; the smaller id wins a tie.

    The vectors may be on disk. Among more than `exact_vectors` texts an index is used, and the share of texts whose
    nearest one it finds is measured on a sample.
    """
    # The earlier of two equally near vectors wins, so they are stored in the order of their ids; but not if they are
    # so many that they had better stay where they are.
    order = sorted(range(len(ids)), key=lambda index: ids[index])
    if needs_index(len(ids), exact_vectors):
        order = list(range(len(ids)))
        index = IndexedStore(vectors)
        on_recall(index.recall)
        _, near = index.nearest(vectors, 2)
    else:
        _, near = VectorStore(vectors[order]).nearest(vectors, 2)
    return [next((order[place] for place in row if order[place] != own), own) for own, row in enumerate(near)]


def augment_semantic(
    examples: Sequence[Example],
    represented: Sequence[Represented],
    rule: WordRule,
    exact_vectors: int = EXACT_VECTORS,
    on_recall: OnRecall = lambda recall: None,
) -> list[Example]:
    """Return a copy of every example with each shortcut word replaced by a retrieved one.

    The vectors must use the same rule for words.
    """
    wholes = (
        represented.wholes
        if isinstance(represented, RepresentedFile)
        else np.stack([each.whole for each in represented])
    )
    near = find_neighbors(wholes, [example.id for example in examples], exact_vectors, on_recall)
    return [
        _replace_by_nearest(example, represented[own], examples[near[own]], represented[near[own]], rule)
        for own, example in enumerate(examples)
    ]


def _replace_by_nearest(
    example: Example, own: Represented, other: Example, theirs: Represented, rule: WordRule
) -> Example:
    wanted = [index for index in find_replaceable_words(example, rule) if own.read[index]]
    allowed = _list_allowed_words(example, other, theirs, rule)
    new: dict[int, str] = {}
    if wanted and len(allowed) and other.id != example.id:
        _, near = VectorStore(theirs.words[allowed]).nearest(own.words[wanted])
        spans = word_spans(other.text, rule)
        for index, (place,) in zip(wanted, near, strict=True):
            span = spans[allowed[place]]
            new[index] = other.text[span.start : span.end]
    return replace_words(example, new, "~semantic", rule)


def _list_allowed_words(example: Example, other: Example, theirs: Represented, rule: WordRule) -> np.ndarray:
    """List the neighbor's words that were read, are not gold there, and do not equal a gold word of the example."""
    own_words, words = word_spans(example.text, rule), word_spans(other.text, rule)
    own_gold = word_mask(own_words, example.rationale or ())
    forbidden = {
        example.text[word.start : word.end].lower()
        for word, gold in zip(own_words, own_gold, strict=True)
        if gold
    }
    gold = word_mask(words, other.rationale or ())
    return np.array(
        [
            index
            for index, word in enumerate(words)
            if theirs.read[index]
            and not gold[index]
            and other.text[word.start : word.end].lower() not in forbidden
        ],
        dtype=int,
    )
