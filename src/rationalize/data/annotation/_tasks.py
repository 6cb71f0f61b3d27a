"""The common content of every tool's file: texts, and people's answers about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rationalize.data.annotation.import_options import Counting
from rationalize.data.findings import FileRow, shorten

UNNAMED = "unnamed"
"""The person behind annotations that carry no name."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked span as written in the file.

    Attributes:
        name: Its label.
        start: Its start, in the tool's units; any value until it is checked.
        end: Its end, exclusive.
        field: Its place in the row, for messages.
        quote: The marked text as the file repeats it, or None.
    """

    name: str
    start: object
    end: object
    field: str
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One person's answer about one text.

    Attributes:
        row: Its row, to report errors on.
        annotator: The person.
        label: The class that was chosen, or None.
        marks: What was marked. None: the person was not asked, or did not answer.
        counting: What the offsets count, where that is certain.
    """

    row: FileRow
    annotator: str = UNNAMED
    label: str | None = None
    marks: tuple[Mark, ...] | None = None
    counting: Counting | None = None


@dataclass(slots=True)
class AnnotatedText:
    """One text and everyone's answers.

    Attributes:
        row: Where it stands.
        id: Its id.
        text: The text.
        query: The query, if it has one.
        label: The class that it came with, if nobody chose one.
        answers: What people marked and chose.
    """

    row: FileRow
    id: str
    text: str
    query: str | None = None
    label: str | None = None
    answers: list[Answer] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        """Whether no error was reported on any of its rows."""
        return self.row.fine and all(answer.row.fine for answer in self.answers)


def gather(texts: Iterable[AnnotatedText]) -> list[AnnotatedText]:
    """Join what several rows have on the same id; their texts must be the same."""
    found: dict[str, AnnotatedText] = {}
    for text in texts:
        first = found.setdefault(text.id, text)
        if first is text:
            continue
        if first.text != text.text:
            expected = f"the text of {first.row.place}, which has the same id {shorten(text.id)}"
            text.row.error("texts differ", "text", seen=shorten(text.text), expected=expected)
        first.answers += text.answers
        first.label = first.label if first.label is not None else text.label
        first.row.fine = first.row.fine and text.row.fine
    return list(found.values())


def keep_last(answers: Iterable[Answer]) -> tuple[list[Answer], int]:
    """Everyone's last answer, and how many earlier ones were dropped."""
    given = list(answers)
    last = {answer.annotator: answer for answer in given}
    return list(last.values()), len(given) - len(last)
