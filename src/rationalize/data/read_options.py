"""How rows are to be read: which field is what, what a word is, what becomes of marks that do not fit."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

from rationalize.errors import ConfigError
from rationalize.text.words import WordRule

if TYPE_CHECKING:
    from rationalize.config import ReadingConfig

PartialWords = Literal["widen", "shrink", "drop"]
"""What becomes of a gold span that cuts a word: it counts for the whole word, only for whole words, or not at all."""
Annotators = Literal["majority", "union"]
"""Which tokens are gold where several people marked: those that at least half of them did, or that any did."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of the fields or columns; ERASER's layout has its own."""

    text: str = "text"
    label: str = "label"
    id: str = "id"
    query: str = "query"
    rationale: str = "rationale"

    def renamed(self) -> dict[str, str]:
        """The fields that are called otherwise than usual, by what they hold."""
        usual = Fields()
        both = ((each.name, getattr(self, each.name), getattr(usual, each.name)) for each in fields(self))
        return {name: given for name, given, expected in both if given != expected}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Everything that can be chosen about reading.

    Attributes:
        fields: Names of the fields or columns.
        words: What a word is; None: as the format has it (ERASER and rows of tokens: white space; else Unicode).
        partial_words: What becomes of gold spans that cut a word.
        annotators: Which tokens are gold where several people marked.
        drop_unlabeled: Leave out rows without a label.
        empty_texts: Keep rows whose text has no word: they can be explained, if not learned from.
    """

    fields: Fields = Fields()
    words: WordRule | None = None
    partial_words: PartialWords = "widen"
    annotators: Annotators = "majority"
    drop_unlabeled: bool = False
    empty_texts: bool = False

    def __post_init__(self) -> None:
        known = {"words": (None, *get_args(WordRule)), "partial_words": get_args(PartialWords)}
        for name, allowed in (known | {"annotators": get_args(Annotators)}).items():
            if getattr(self, name) not in allowed:
                expected = ", ".join(map(repr, allowed))
                raise ConfigError(
                    f"{name}: saw {getattr(self, name)!r}, expected one of {expected}.", field=name
                )

    @classmethod
    def from_config(cls, config: ReadingConfig) -> ReadOptions:
        """Build the options from the settings of a run or of a comparison."""
        return cls(
            fields=Fields(**config.fields.model_dump()),
            words=None if config.words == "auto" else config.words,
            partial_words=config.partial_words,
            annotators=config.annotators,
            drop_unlabeled=config.drop_unlabeled,
        )
