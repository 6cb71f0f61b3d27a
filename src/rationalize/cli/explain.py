"""`rationalize explain`: a label and the words that support it, for a text, standard input or a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli.flags import Device
from rationalize.files import json_line

if TYPE_CHECKING:
    from rationalize.types import Example


def explain(
    model: Annotated[Path, typer.Argument(help="A model folder or a run folder.")],
    text: Annotated[str | None, typer.Argument(help="The text; without it, standard input is read.")] = None,
    query: Annotated[str | None, typer.Option(help="The question or claim that goes with the text.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="Explain every row of a .jsonl, .csv or .tsv file, or every line of a .txt."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="With --file: write JSON Lines here.")] = None,
    truncate: Annotated[
        bool, typer.Option(help="Read only what fits the encoder, not the whole text.")
    ] = False,
    device: Device = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON Lines.")] = False,
) -> None:
    """Explain a text, standard input, or a whole file (streaming, JSON Lines out).

    Example: rationalize explain runs/movies "a gripping film from start to end"

    Example: rationalize explain runs/movies --file reviews.jsonl --out explained.jsonl
    """
    from rationalize.errors import ConfigError
    from rationalize.rationalizer import Rationalizer
    from rationalize.types import Example

    if file is not None and text is not None:
        raise ConfigError("explain: give a text or --file, not both.")
    if out is not None and file is None:
        raise ConfigError("explain: --out goes with --file.")
    loaded = Rationalizer.from_pretrained(model, device=device)
    if file is None:
        given = sys.stdin.read() if text is None else text
        explanation = loaded.explain([Example("0", given, query=query)], truncate=truncate)[0]
        if as_json:
            typer.echo(json_line(explanation.to_dict()), nl=False)
        else:
            from rich.console import Console

            Console().print(explanation)
        return
    rows = (json_line(item.to_dict()) for item in loaded.explain_iter(_examples(file), truncate=truncate))
    _write(rows, out)


def _examples(file: Path) -> Iterator[Example]:
    """Rows of a data file, or lines of a plain text file, one at a time."""
    from rationalize.data.jsonl import read_jsonl
    from rationalize.data.tabular import read_table
    from rationalize.errors import DataError
    from rationalize.types import Example

    if not file.is_file():
        raise DataError(f"{file}: no such file. Expected a .jsonl, .csv, .tsv or .txt file.")
    if file.suffix in {".csv", ".tsv"}:
        yield from read_table(file)
    elif file.suffix == ".jsonl":
        yield from read_jsonl(file)
    else:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                yield Example(str(number), line.rstrip("\n"))


def _write(rows: Iterator[str], out: Path | None) -> None:
    """To standard output as they come; to a file so that it is there only when complete."""
    if out is None:
        for row in rows:
            sys.stdout.write(row)
            sys.stdout.flush()
        return
    part = out.with_name(f".{out.name}.part")
    with part.open("w", encoding="utf-8") as target:
        target.writelines(rows)
    part.replace(out)
