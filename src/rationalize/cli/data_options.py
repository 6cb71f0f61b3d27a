"""Options for reading data, the same for every command.

A command takes them all as one parameter:

    @add_reading_options
    def stats(path: DataPath, reading: ReadingFlags) -> None: ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from rationalize.data.read_options import Fields, PartialWords, ReadOptions
from rationalize.format_names import ReadAs
from rationalize.text.words import WordRule

if TYPE_CHECKING:
    from rationalize.config import Settings

PANEL = "Reading data"


def _make_option(help: str, *names: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=PANEL)


@dataclass(frozen=True)
class ReadingFlags:
    """The given options; None: not given."""

    text_field: Annotated[
        str | None,
        _make_option("Field or column with the text, a string or a list of tokens (text).", "--text-field"),
    ] = None
    label_field: Annotated[
        str | None, _make_option("Field or column with the label (label).", "--label-field")
    ] = None
    id_field: Annotated[str | None, _make_option("Field or column with the id (id).", "--id-field")] = None
    query_field: Annotated[
        str | None, _make_option("Field or column with the query (query).", "--query-field")
    ] = None
    rationale_field: Annotated[
        str | None,
        _make_option(
            "Field or column with the gold: spans, marks of tokens, or the words (rationale).",
            "--rationale-field",
        ),
    ] = None
    words: Annotated[
        WordRule | None,
        _make_option(
            "Definition of a word; default by format (ERASER: whitespace, else unicode).", "--words"
        ),
    ] = None
    partial_words: Annotated[
        PartialWords | None,
        _make_option(
            "Gold spans that cut a word: count whole words, shrink to whole words, or drop (widen).",
            "--partial-words",
        ),
    ] = None
    annotators: Annotated[
        str | None,
        _make_option(
            "Where several people marked: what half of them did (majority), any (union), all (intersection), or the "
            "person of this name.",
            "--annotators",
        ),
    ] = None
    drop_unlabeled: Annotated[
        bool | None, _make_option("Leave out rows without a label.", "--drop-unlabeled")
    ] = None
    read_as: Annotated[
        ReadAs | None,
        _make_option("The format, if it is not to be recognized.", "--read-as", "--from"),
    ] = None

    def to_options(self) -> ReadOptions:
        """Return the given options over the defaults."""
        given = {name.rpartition(".")[2]: value for name, value in self.to_settings().items()}
        own = {each.name for each in fields(Fields)}
        names = Fields(**{name: value for name, value in given.items() if name in own})
        return ReadOptions(fields=names, **{name: value for name, value in given.items() if name not in own})

    def to_settings(self) -> Settings:
        """Return the given options as run settings (`data.fields.text`, `data.words` …)."""
        found = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None:
                field = each.name.removesuffix("_field")
                name = f"data.fields.{field}" if field != each.name else f"data.{each.name}"
                found[name] = value
        return found


def add_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the reading options to a command, which gets them as its parameter `reading`."""
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
