"""Random augmentation: a shortcut word becomes any word of the training texts, drawn by its frequency."""

from __future__ import annotations

from collections.abc import Sequence

from rationalize.seeding import python_random
from rationalize.text.replace import replace_words, shortcut_words
from rationalize.text.words import word_spans
from rationalize.types import Example


def bag_of_words(examples: Sequence[Example]) -> list[str]:
    """Every word of every text, in order: drawing from it evenly is drawing by frequency."""
    return [example.text[word.start : word.end] for example in examples for word in word_spans(example.text)]


def augment_random(example: Example, bag: Sequence[str], seed: int, copy: int = 0) -> Example:
    """A copy in which every shortcut word is replaced."""
    random = python_random(seed, "random augmentation", example.id, copy)
    new = {index: random.choice(bag) for index in shortcut_words(example)}
    return replace_words(example, new, f"~random{copy}")
