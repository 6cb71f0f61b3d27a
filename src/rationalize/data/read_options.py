"""How to read rows: names of fields, the definition of a word, spans that cut a word."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal, get_args

from rationalize.errors import ConfigError
from rationalize.format_names import ReadAs
from rationalize.text.words import WordRule

if TYPE_CHECKING:
    from rationalize.config import ReadingConfig, RunConfig

PartialWords = Literal["widen", "shrink", "drop"]
"""What to do with a gold span that cuts a word: widen or shrink it to whole words, or drop it."""
MERGES = ("majority", "union", "intersection")
"""Ways to make one rationale of several people's; any other word is the name of the one person to follow."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of the fields or columns; ERASER's layout has its own."""

    text: str = "text"
    label: str = "label"
    id: str = "id"
    query: str = "query"
    rationale: str = "rationale"

    def list_names(self) -> tuple[str, ...]:
        """List the names."""
        return self.text, self.label, self.id, self.query, self.rationale

    def renamed(self) -> dict[str, str]:
        """Return the fields with unusual names, by their role."""
        usual = Fields()
        both = ((each.name, getattr(self, each.name), getattr(usual, each.name)) for each in fields(self))
        return {name: given for name, given, expected in both if given != expected}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read data.

    Attributes:
        fields: Names of the fields or columns.
        words: The definition of a word; None: the format's (ERASER and rows of tokens: white space; else Unicode).
        partial_words: What to do with gold spans that cut a word.
        annotators: What is gold if several people annotated: what at least half of them marked (`majority`), any of
            them (`union`), all of them (`intersection`), or the person of this name.
        read_as: The format, if it is not to be recognized.
        drop_unlabeled: Skip rows without a label.
        empty_texts: Keep rows whose text has no word: they can be explained, if not learned from.
        map_from: Rows of a split from which on they are kept in a temporary file; None: all are in memory.
    """

    fields: Fields = Fields()
    words: WordRule | None = None
    partial_words: PartialWords = "widen"
    annotators: str = "majority"
    drop_unlabeled: bool = False
    empty_texts: bool = False
    read_as: ReadAs | None = None
    map_from: int | None = None

    def __post_init__(self) -> None:
        known = {
            "words": (None, *get_args(WordRule)),
            "partial_words": get_args(PartialWords),
            "read_as": (None, *get_args(ReadAs)),
        }
        for name, allowed in known.items():
            if getattr(self, name) not in allowed:
                expected = ", ".join(map(repr, allowed))
                raise ConfigError(
                    f"{name}: saw {getattr(self, name)!r}, expected one of {expected}.", field=name
                )
        if not isinstance(self.annotators, str) or not self.annotators:
            raise ConfigError(
                f"annotators: saw {self.annotators!r}, expected {', '.join(MERGES)}, or somebody's name.",
                field="annotators",
            )

    @classmethod
    def from_run(cls, config: RunConfig) -> ReadOptions:
        """Build the options that a run's training data are read with."""
        return replace(cls.from_config(config.data), map_from=config.training.map_from)

    @classmethod
    def from_config(cls, config: ReadingConfig) -> ReadOptions:
        """Build the options from the settings that say how to read a data set."""
        return cls(
            fields=Fields(**config.fields.model_dump()),
            words=None if config.words == "auto" else config.words,
            partial_words=config.partial_words,
            annotators=config.annotators,
            drop_unlabeled=config.drop_unlabeled,
            read_as=None if config.read_as == "auto" else config.read_as,
        )
