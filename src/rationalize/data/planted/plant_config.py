"""What can be chosen about a shortcut that is put into real text."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rationalize.config import Share, Strict
from rationalize.text.words import WHITE_SPACE

Kind = Literal["phrase", "word", "punctuation", "token"]
"""A phrase or a word stands between any two words outside gold, punctuation at the end of the text, and a token, as a
field of metadata that was written into the text would be, at its beginning."""


class ShortcutPlan(Strict):
    """A shortcut, and the label that it goes with."""

    text: str
    label: str
    kind: Kind = "phrase"

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        text = self.text
        if not text.strip(WHITE_SPACE) or text != text.strip(WHITE_SPACE):
            raise ValueError(f"text is {text!r}, expected some words without white space around them")
        if self.kind in {"word", "token"} and any(space in text for space in WHITE_SPACE):
            raise ValueError(f"text is {text!r}, expected a {self.kind} without white space")
        if self.kind == "punctuation" and any(character.isalnum() for character in text):
            raise ValueError(f"text is {text!r}, expected punctuation without letters and digits")
        return self


class PlantConfig(Strict):
    """Which shortcuts go into a data set, and how closely they follow the label."""

    shortcuts: tuple[ShortcutPlan, ...] = Field(min_length=1)
    """Where a label has several, each document gets one of them. A label may have none: then it goes with nothing."""
    correlation: Share = 0.9
    """Share of each label's documents whose shortcut agrees with the label; in ood, the others do."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Decides which documents agree, which shortcut they get, and where."""

    @model_validator(mode="after")
    def _one_label_each(self) -> Self:
        several = [text for text, times in Counter(plan.text for plan in self.shortcuts).items() if times > 1]
        if several:
            raise ValueError(f"shortcuts has {several[0]!r} more than once, expected one label for each text")
        return self
