"""Inputs with some words removed. The query always stays.

drop  the words are deleted from the text, which is tokenized again; with every word gone, the model reads an
      empty text: the special pieces, and the query if there is one
mask  the words' pieces become the encoder's mask token (padding, if it has none); positions and length stay

Only words that were read count: where a text was cut off, the input is the part before the cut.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from typing import Literal

import numpy as np

from rationalize.text.windows import Encoded, TextEncoder, Window
from rationalize.text.words import would_merge
from rationalize.types import Example, Span

Removal = Literal["drop", "mask"]
Keep = tuple[bool, ...]
"""For every word that was read: whether it stays."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """An input with some of its words removed, not tokenized yet.

    Attributes:
        encoded: The whole input.
        keep: The words that stay.
        removal: What happens to the others.
        text: The text after deletion; the whole text if words are masked.
    """

    encoded: Encoded
    keep: Keep
    removal: Removal
    text: str

    @property
    def key(self) -> bytes:
        """A digest that is equal for inputs that read the same."""
        hidden = self.keep if self.removal == "mask" else ()
        parts = (self.encoded.example.query, self.text, hidden, self.encoded.cut_off is not None)
        return hashlib.sha256(repr(parts).encode()).digest()

    def encode(self, text: TextEncoder) -> Encoded:
        """Tokenize the input."""
        if self.removal == "mask":
            fallback = text.pad_id
            mask_id = fallback if text.tokenizer.mask_token_id is None else text.tokenizer.mask_token_id
            windows = tuple(_mask_words(window, self.keep, mask_id) for window in self.encoded.windows)
            return replace(self.encoded, windows=windows)
        left = Example(self.encoded.example.id, self.text, query=self.encoded.example.query)
        return text.encode(left, truncate=self.encoded.cut_off is not None)


def reduce_input(encoded: Encoded, keep: Keep, removal: Removal) -> Reduced:
    """Remove all words but those to keep."""
    text = encoded.example.text
    left = join_kept(text, encoded.words, keep) if removal == "drop" else text
    return Reduced(encoded, keep, removal, left)


def join_kept(text: str, words: Sequence[Span], keep: Keep) -> str:
    """Join the kept words with their original white space: of several adjacent gaps, the widest stays.

    A gap with a line feed wins over wider ones, since lines are sentences. Where words touched what was between
    them ("slow,dull" without its comma), a space keeps them two words.
    """
    left = list(compress(range(len(keep)), keep))
    parts = [text[words[index].start : words[index].end] for index in left]
    joints = [_join_gaps(text, words, *pair) for pair in pairwise(left)]
    return "".join(part + joint for part, joint in zip(parts, [*joints, ""]))


def _join_gaps(text: str, words: Sequence[Span], left: int, right: int) -> str:
    gaps = [text[words[i].end : words[i + 1].start] for i in range(left, right)]
    if len(gaps) == 1:
        return gaps[0]
    widest = max(gaps, key=lambda gap: ("\n" in gap, len(gap)))
    before, after = (text[words[index].start : words[index].end] for index in (left, right))
    return widest or (" " if would_merge(before, after) else "")


def _mask_words(window: Window, keep: Keep, mask_id: int) -> Window:
    """Mask removed words; a piece that reaches into one is masked too, since it would reveal the word."""
    gone = np.ones(int(window.last_words.max(initial=-1)) + 1, dtype=bool)
    gone[: len(keep)] = ~np.array(keep[: len(gone)], dtype=bool)
    pieces, words = window.pair_pieces_with_words()
    ids = window.input_ids.copy()
    ids[pieces[gone[words]]] = mask_id
    return replace(window, input_ids=ids)
