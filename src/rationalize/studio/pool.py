"""The texts of a studio: those to annotate, by number, and the other splits beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rationalize.data.dataset import DataSet
from rationalize.data.jsonl import hash_texts
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.errors import DataError
from rationalize.text.words import WordRule, mask_spans, word_mask, word_spans
from rationalize.types import Example, Span


@dataclass(frozen=True)
class Pool:
    """The texts to annotate.

    Attributes:
        name: Of the data set.
        split: The split that they come from.
        examples: The texts; pages number them from 1.
        others: The other splits.
        words: What a word is.
        labels: The classes that labels can be corrected to.
    """

    name: str
    split: str
    examples: tuple[Example, ...]
    others: Mapping[str, tuple[Example, ...]]
    words: WordRule
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, number: int) -> Example:
        return self.examples[number - 1]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of ids and texts: annotations belong to these and no others."""
        return hash_texts(self.examples, errors="replace")

    def find_words(self, number: int) -> list[Span]:
        """Return where the words of a text are."""
        return word_spans(self[number].text, self.words)

    def mark_words(self, number: int, spans: Iterable[Span]) -> list[bool]:
        """Return, for each word of a text, whether a span touches it."""
        return word_mask(self.find_words(number), spans)

    def to_spans(self, number: int, marked: Iterable[int]) -> tuple[Span, ...]:
        """Return the stretches that marked words cover, in code points.

        Pages send words by index, so that nothing depends on how a browser counts characters.
        """
        words = self.find_words(number)
        chosen = set(marked)
        wrong = sorted(index for index in chosen if not 0 <= index < len(words))
        if wrong:
            raise DataError(f"words: saw {wrong[0]}, expected 0 to {len(words) - 1} in text {number}.")
        return mask_spans(words, [index in chosen for index in range(len(words))])


def read_pool(data: Any, split: str | None = None, reading: ReadOptions | None = None) -> Pool:
    """Read the data of a studio; without a split's name, train is annotated, or the only one."""
    return make_pool(read_data(data, reading or ReadOptions()), split)


def make_pool(data: DataSet, split: str | None = None) -> Pool:
    """Take the texts to annotate from a data set."""
    examples = data.split(split) if split is not None else data.only("train")
    own = next(name for name, each in data.splits.items() if each is examples)
    others = {name: tuple(each) for name, each in data.splits.items() if name != own}
    ids = {example.id for example in examples}
    if len(ids) < len(examples):
        raise DataError(f"{data.name}, {own}: an id occurs twice. Give every text an id of its own.")
    return Pool(data.name, own, tuple(examples), others, data.words, data.labels)
