"""`rationalize explain`: a label and the words that support it, for a text, standard input or a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import Device, On, Quiet, Tool, TrainedModel, Truncate, Trust, parse_floors
from rationalize.cli.given_text import Errors, clean_argument, read_standard_input
from rationalize.errors import ConfigError
from rationalize.reporting.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from rationalize.corpus.bad_rows import BadRowFile
    from rationalize.types import Example, Explanation


class BadRowsChoice(StrEnum):
    """What to do with rows that cannot be read."""

    skip = "skip"
    refuse = "refuse"


class PartFormatChoice(StrEnum):
    """Formats of the parts of a folder."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"


@add_reading_options
def explain(
    model: TrainedModel,
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
    format: Annotated[
        PartFormatChoice | None, typer.Option(help="Format of the parts of a folder; jsonl if not given.")
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            min=1,
            help="With --out: processes that explain and share one copy of the weights; with --on, actors.",
        ),
    ] = 1,
    on: On = None,
    resume: Annotated[bool, typer.Option("--resume", help="With --out: go on where it stopped.")] = False,
    bad_rows: Annotated[
        BadRowsChoice,
        typer.Option(help="With --out: rows that cannot be read go to OUT's .errors.jsonl, or end it."),
    ] = BadRowsChoice.skip,
    errors: Annotated[
        Errors, typer.Option(help="Bytes that are not UTF-8, in texts and .txt files: an error, or �.")
    ] = Errors.refuse,
    guard_formulas: Annotated[
        bool, typer.Option(help="In a .csv: an apostrophe before cells that a spreadsheet would run.")
    ] = True,
    to: Annotated[
        Tool | None,
        typer.Option(help="With --out: write pre-annotations that this annotation tool imports."),
    ] = None,
    truncate: Truncate = False,
    min_confidence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER or LABEL=NUMBER",
            help="Answer abstain where the label is less sure than this; repeatable, one for each label.",
        ),
    ] = None,
    trust: Trust = None,
    device: Device = "auto",
    batch_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="Word pieces read at once; 2,048 on a CPU and 16,384 elsewhere if not given."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON Lines.")] = False,
    quiet: Quiet = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Explain a text, standard input, or a whole file (streaming; ids are kept).

    Example: rationalize explain runs/movies "a gripping film from start to end"

    Example: rationalize explain runs/movies --file reviews.csv --text-field body --out explained.jsonl

    Example: rationalize explain runs/movies --file reviews.csv --to label_studio --out tasks.json

    Example: rationalize explain runs/movies --file 'posts-*.parquet' --out explained --workers 4
    """
    from rationalize.corpus.bad_rows import BadRowFile
    from rationalize.data.example_stream import estimate_rows, stream_examples
    from rationalize.rationalizer import Rationalizer
    from rationalize.reporting.progress import track
    from rationalize.types import Example

    if file is not None and text is not None:
        raise ConfigError("explain: give a text or --file, not both.")
    if out is not None and file is None:
        raise ConfigError("explain: --out needs --file.")
    if to is not None and out is None:
        raise ConfigError("explain: --to needs --file and --out.")
    if (resume or format is not None or workers > 1 or on is not None) and (out is None or to is not None):
        raise ConfigError("explain: --workers, --on, --resume and --format need --out, and no --to.")
    text, query = (
        clean_argument(given, name, errors) for given, name in ((text, "TEXT"), (query, "--query"))
    )
    sure = parse_floors(min_confidence)
    # A cluster's workers have devices of their own; from here, the model is only sent to them.
    loaded = Rationalizer.from_pretrained(model, device="cpu" if on else device, trust=trust)
    loaded.model.make_rule(sure)  # refuse labels that it does not have before anything is read
    if file is None:
        given = read_standard_input(errors) if text is None else text
        example = Example("0", given, query=query)
        _show(
            loaded.explain(example, truncate=truncate, batch_tokens=batch_tokens, min_confidence=sure),
            as_json=as_json,
        )
        return
    bad = BadRowFile(out) if out is not None and bad_rows is BadRowsChoice.skip else None
    examples = stream_examples(
        file,
        replace(reading.to_options(), empty_texts=True),
        errors=errors.value,
        on_bad_row=bad.add if bad else None,
    )
    if to is not None and out is not None:
        given_texts = list(examples)  # the tool's file has both, texts and explanations
        explained = loaded.explain(
            iter(given_texts), truncate=truncate, batch_tokens=batch_tokens, min_confidence=sure
        )
        if bad is not None:
            bad.require_good(len(given_texts))
        _write_for_tool(out, to, given_texts, track(explained, "explaining", len(given_texts), quiet=quiet))
        if bad is not None:
            _finish_bad_rows(bad, len(given_texts))
        return
    if out is None:
        explained = loaded.explain(
            examples, truncate=truncate, batch_tokens=batch_tokens, min_confidence=sure
        )
        for item in track(explained, "explaining", quiet=quiet):
            echo_json(item.to_dict(), indent=None)
        return
    done = loaded.explain_to(
        out,
        examples,
        format=format.value if format else None,
        workers=workers,
        on=on,
        device="cpu" if device == "auto" else device,
        resume=resume,
        truncate=truncate,
        batch_tokens=batch_tokens,
        guard_formulas=guard_formulas,
        min_confidence=sure,
        total=estimate_rows(file) or 0,
        on_read=bad.require_good if bad else lambda rows: None,
        quiet=quiet,
    )
    if bad is not None and done.parts:
        _finish_bad_rows(bad, done.rows)
    if resume:
        again = f"{done.found} of {done.parts} parts were there already" if done.parts else "nothing to do"
        echo(f"{out}: {again}", err=True)


def _finish_bad_rows(bad: BadRowFile, rows: int) -> None:
    bad.finish()
    if bad.rows:
        echo(f"{bad.rows} of {bad.rows + rows} rows could not be read: {bad.path}", err=True)


def _write_for_tool(out: Path, to: Tool, texts: list[Example], found: Iterator[Explanation]) -> None:
    from rationalize.data.annotation import FORMATS

    done = FORMATS[to.value].write_predictions(out, zip(texts, found, strict=True))
    echo(f"{done.rows} pre-annotated texts for {FORMATS[to.value].title}: {out}")
    for change, times in done.changes.items():
        echo(f"  {change}: {times}")


def _show(explanation: Explanation, *, as_json: bool) -> None:
    if as_json:
        echo_json(explanation.to_dict(), indent=None)
    else:
        make_console().print(explanation)
