"""Random augmentation: a shortcut word becomes any word of the training texts, drawn by its frequency."""

from __future__ import annotations

from collections.abc import Sequence

from rationalize.seeding import python_random
from rationalize.text.replace import find_replaceable_words, replace_words
from rationalize.text.words import WordRule, find_word_bounds
from rationalize.types import Example


def collect_words(examples: Sequence[Example], rule: WordRule) -> list[str]:
    """Return every word of every text, in order, so that a uniform draw is a draw by frequency."""
    return [
        example.text[start:end] for example in examples for start, end in find_word_bounds(example.text, rule)
    ]


def augment_random(example: Example, bag: Sequence[str], seed: int, rule: WordRule, copy: int = 0) -> Example:
    """Return a copy with every shortcut word replaced."""
    random = python_random(seed, "random augmentation", example.id, copy)
    new = {index: random.choice(bag) for index in find_replaceable_words(example, rule)}
    return replace_words(example, new, f"~random{copy}", rule)
