"""Options for reading and for writing an annotation tool's file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from rationalize.data.read_options import MERGES as MERGES
from rationalize.errors import ConfigError

Counting = Literal["code_points", "utf16"]
"""What an offset counts: characters as Python has them, or UTF-16 units as JavaScript has them."""

_CHOICES = {
    "offsets": ("auto", *get_args(Counting)),
    "unmarked": ("empty", "unknown"),
    "folders": ("labels", "annotators"),
}


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to read an annotation tool's file.

    Attributes:
        annotators: `majority` (characters that at least half of the people marked), `union`, `intersection`, or the
            name of one person. Labels go by majority in any case but the last.
        span_labels: Names of the spans that are rationale. None: all but the shortcuts.
        shortcut_labels: Names of the spans that are shortcuts.
        label_field: Where the class is: a Choices control, a question, a field. None: wherever the only one is.
        span_field: Where the spans are: a Labels control, a question, a field. None: everywhere.
        text_field: Where the text is. None: `text`, or the only one there is.
        query_field: Where the query is, if anywhere.
        offsets: What the file's offsets count. `auto` finds it out.
        unmarked: What a text without a mark means in files that keep no trace of a person's look: that nothing was
            marked (`empty`), or that nobody looked (`unknown`).
        folders: What the sub-folders of a folder are: `labels`, or `annotators` of the same texts.
        strict: Whether a row that cannot be read is an error that ends the reading, or is left out and listed.
    """

    annotators: str = "majority"
    span_labels: tuple[str, ...] | None = None
    shortcut_labels: tuple[str, ...] = ("shortcut",)
    label_field: str | None = None
    span_field: str | None = None
    text_field: str | None = None
    query_field: str = "query"
    offsets: Literal["auto", "code_points", "utf16"] = "auto"
    unmarked: Literal["empty", "unknown"] = "empty"
    folders: Literal["labels", "annotators"] = "labels"
    strict: bool = True

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                expected = ", ".join(map(repr, allowed))
                raise ConfigError(f"{name}: saw {getattr(self, name)!r}, expected one of {expected}.")
        for name in ("span_labels", "shortcut_labels"):
            if isinstance(getattr(self, name), str):
                raise ConfigError(f"{name}: saw {getattr(self, name)!r}, expected several names: a tuple.")

    def is_shortcut(self, name: str) -> bool:
        """Return whether spans of that name are shortcuts."""
        return name in self.shortcut_labels and name not in (self.span_labels or ())

    def is_rationale(self, name: str) -> bool:
        """Return whether spans of that name are rationale."""
        return not self.is_shortcut(name) and (self.span_labels is None or name in self.span_labels)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How to write an annotation tool's file.

    Attributes:
        rationale_name: The name that rationale spans get.
        shortcut_name: The name that shortcut spans get.
        model_version: Who made the predictions. None: the method of each explanation.
        offsets: What offsets count. None: what the tool itself counts.
        doccano_project: `spans` (sequence labeling: spans in `label`, the class in a column beside it), or
            `spans_and_class` (intent detection and slot filling: `entities` and `cats`, both can be edited).
    """

    rationale_name: str = "rationale"
    shortcut_name: str = "shortcut"
    model_version: str | None = None
    offsets: Counting | None = None
    doccano_project: Literal["spans", "spans_and_class"] = "spans"

    def __post_init__(self) -> None:
        if self.rationale_name == self.shortcut_name or not self.rationale_name or not self.shortcut_name:
            raise ConfigError(
                f"rationale_name, shortcut_name: saw {self.rationale_name!r} and {self.shortcut_name!r}, "
                "expected two different names."
            )
        if self.offsets not in (None, *get_args(Counting)):
            raise ConfigError(f"offsets: saw {self.offsets!r}, expected 'code_points', 'utf16' or None.")
        if self.doccano_project not in ("spans", "spans_and_class"):
            raise ConfigError(
                f"doccano_project: saw {self.doccano_project!r}, expected 'spans' or 'spans_and_class'."
            )


IMPORT = ImportOptions()
EXPORT = ExportOptions()
