"""`rationalize explain`: a label and the words that support it, for a text, standard input or a file."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import Device
from rationalize.errors import ConfigError
from rationalize.files import json_line

if TYPE_CHECKING:
    from rationalize.types import Explanation


class PartFormatChoice(StrEnum):
    """Formats of the parts of a folder."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"


@add_reading_options
def explain(
    model: Annotated[str, typer.Argument(help="A model folder, a run folder or a Hub id.")],
    text: Annotated[str | None, typer.Argument(help="The text; without it, standard input is read.")] = None,
    query: Annotated[str | None, typer.Option(help="The question or claim about the text.")] = None,
    file: Annotated[
        str | None,
        typer.Option(
            help="Explain every row of a file, of a folder, pattern ('posts-*.jsonl') or address (s3:// …) of shards, "
            "every line of a .txt, or JSON Lines from -."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="With --file: write here, to a .jsonl, .csv or .parquet; a name without an ending is "
            "that of a folder of parts."
        ),
    ] = None,
    to: Annotated[
        PartFormatChoice | None, typer.Option(help="Format of the parts of a folder; jsonl if not given.")
    ] = None,
    workers: Annotated[
        int,
        typer.Option(min=1, help="With --out: processes that explain; they share one copy of the weights."),
    ] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="With --out: go on where it stopped.")] = False,
    truncate: Annotated[
        bool, typer.Option(help="Read only what fits the encoder, not the whole text.")
    ] = False,
    device: Device = "auto",
    batch_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="Word pieces read at once; 2,048 on a CPU and 16,384 elsewhere if not given."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON Lines.")] = False,
    quiet: Annotated[bool, typer.Option(help="Show no progress.")] = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Explain a text, standard input, or a whole file (streaming; ids are kept).

    Example: rationalize explain runs/movies "a gripping film from start to end"

    Example: rationalize explain runs/movies --file reviews.csv --text-field body --out explained.jsonl

    Example: rationalize explain runs/movies --file 'posts-*.parquet' --out explained --workers 4
    """
    from rationalize.data.example_stream import stream_examples
    from rationalize.rationalizer import Rationalizer
    from rationalize.reporting.progress import track
    from rationalize.types import Example

    if file is not None and text is not None:
        raise ConfigError("explain: give a text or --file, not both.")
    if out is not None and file is None:
        raise ConfigError("explain: --out needs --file.")
    if out is None and (resume or to is not None or workers > 1):
        raise ConfigError("explain: --workers, --resume and --to need --out.")
    loaded = Rationalizer.from_pretrained(model, device=device)
    if file is None:
        given = sys.stdin.read() if text is None else text
        example = Example("0", given, query=query)
        _show(loaded.explain(example, truncate=truncate, batch_tokens=batch_tokens), as_json=as_json)
        return
    examples = stream_examples(file, replace(reading.to_options(), empty_texts=True))
    if out is None:
        explained = loaded.explain(examples, truncate=truncate, batch_tokens=batch_tokens)
        for item in track(explained, "explaining", quiet=quiet):
            sys.stdout.write(json_line(item.to_dict()))
            sys.stdout.flush()
        return
    done = loaded.explain_to(
        out,
        examples,
        format=to.value if to else None,
        workers=workers,
        resume=resume,
        truncate=truncate,
        batch_tokens=batch_tokens,
        quiet=quiet,
    )
    if resume:
        again = f"{done.found} of {done.parts} parts were there already" if done.parts else "nothing to do"
        typer.echo(f"{out}: {again}", err=True)


def _show(explanation: Explanation, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json_line(explanation.to_dict()), nl=False)
        return
    from rich.console import Console

    Console().print(explanation)
