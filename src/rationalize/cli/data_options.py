"""The options of reading data, the same for every command that does.

A command takes them all as one parameter:

    @reads_data
    def stats(path: DataPath, reading: ReadingFlags) -> None: ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from rationalize.data.read_options import ReadOptions

PANEL = "How the data are read"


class Words(StrEnum):
    """What a word is."""

    unicode = "unicode"
    whitespace = "whitespace"


class PartialWordsChoice(StrEnum):
    """What becomes of gold spans that cut a word."""

    widen = "widen"
    shrink = "shrink"
    drop = "drop"


class AnnotatorsChoice(StrEnum):
    """Which tokens are gold where several people marked."""

    majority = "majority"
    union = "union"


def _option(help: str, name: str) -> Any:
    return typer.Option(name, help=help, rich_help_panel=PANEL)


@dataclass(frozen=True)
class ReadingFlags:
    """The options as they were given; None: not at all."""

    text_field: Annotated[
        str | None,
        _option("Field or column with the text, a string or a list of tokens (text).", "--text-field"),
    ] = None
    label_field: Annotated[
        str | None, _option("Field or column with the label (label).", "--label-field")
    ] = None
    id_field: Annotated[str | None, _option("Field or column with the id (id).", "--id-field")] = None
    query_field: Annotated[
        str | None, _option("Field or column with the query (query).", "--query-field")
    ] = None
    rationale_field: Annotated[
        str | None,
        _option(
            "Field or column with the gold: spans, marks of tokens, or the words (rationale).",
            "--rationale-field",
        ),
    ] = None
    words: Annotated[
        Words | None,
        _option(
            "What a word is; without it, as the format has it (ERASER: whitespace, else unicode).", "--words"
        ),
    ] = None
    partial_words: Annotated[
        PartialWordsChoice | None,
        _option(
            "Gold spans that cut a word: count whole words, shrink to whole words, or drop (widen).",
            "--partial-words",
        ),
    ] = None
    annotators: Annotated[
        AnnotatorsChoice | None,
        _option(
            "Tokens that several people marked: gold if half of them did, or any (majority).", "--annotators"
        ),
    ] = None
    drop_unlabeled: Annotated[bool | None, _option("Leave out rows without a label.", "--drop-unlabeled")] = (
        None
    )

    def options(self) -> ReadOptions:
        """What was given, and the defaults of the rest."""
        from rationalize.data.read_options import Fields, ReadOptions

        given = {name.rpartition(".")[2]: value for name, value in self.settings().items()}
        own = {each.name for each in fields(Fields)}
        names = Fields(**{name: value for name, value in given.items() if name in own})
        return ReadOptions(fields=names, **{name: value for name, value in given.items() if name not in own})

    def settings(self) -> dict[str, Any]:
        """What was given, as settings of a run (`data.fields.text`, `data.words` …)."""
        found = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None:
                field = each.name.removesuffix("_field")
                name = f"data.fields.{field}" if field != each.name else f"data.{each.name}"
                found[name] = value.value if isinstance(value, StrEnum) else value
        return found


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading, which it gets as its parameter `reading`."""
    names = [each.name for each in fields(ReadingFlags)]
    hints = get_type_hints(ReadingFlags, include_extras=True)

    @wraps(command)
    def run(**given: Any) -> None:
        reading = ReadingFlags(**{name: given.pop(name) for name in names})
        command(**given, reading=reading)

    own = inspect.signature(command, eval_str=True)
    kept = [parameter for name, parameter in own.parameters.items() if name != "reading"]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    added = [inspect.Parameter(name, kind, default=None, annotation=hints[name]) for name in names]
    run.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (*kept, *added)}
    return run
