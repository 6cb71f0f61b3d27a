"""`rationalize data …`: get, check, look at, convert and make data sets."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rationalize.cli import data_get, data_planted
from rationalize.errors import ConfigError
from rationalize.files import to_json

app = typer.Typer(help="Get, check, look at, convert and make data sets.", no_args_is_help=True)
app.command("get")(data_get.get)

DataPath = Annotated[Path, typer.Argument(metavar="PATH", help="A folder, a .tar.gz or .zip, or a file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
TextField = Annotated[str, typer.Option(help="Field or column with the text (not for ERASER).")]
LabelField = Annotated[str, typer.Option(help="Field or column with the label (not for ERASER).")]


class Target(StrEnum):
    """Formats that can be written."""

    eraser = "eraser"
    jsonl = "jsonl"


@app.command()
def check(
    path: DataPath,
    as_json: AsJson = False,
    encoder: Annotated[
        str | None, typer.Option(help="Also count the gold that this encoder's length limit cuts off.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Word pieces that fit; 512 if only --encoder is given.")
    ] = None,
    text_field: TextField = "text",
    label_field: LabelField = "label",
) -> None:
    """Find everything that is wrong with a data set. Exit code 2 if there are errors.

    Example: rationalize data check data/movies --encoder minilm --max-tokens 256
    """
    from rationalize.cli.data_tables import show_check
    from rationalize.data import validate

    if encoder is None and max_tokens is not None:
        raise ConfigError("--max-tokens: needs an encoder to count word pieces; add --encoder minilm.")
    report = validate.check(
        path,
        pieces=_pieces(encoder) if encoder else None,
        max_tokens=(max_tokens or 512) if encoder else None,
        text_field=text_field,
        label_field=label_field,
    )
    if as_json:
        typer.echo(to_json(report.to_dict()))
    else:
        show_check(report)
    if not report.ok:
        raise typer.Exit(2)


@app.command()
def stats(
    path: DataPath,
    as_json: AsJson = False,
    text_field: TextField = "text",
    label_field: LabelField = "label",
) -> None:
    """Show what a data set looks like: rows, labels, lengths, gold.

    Example: rationalize data stats data/movies --json
    """
    from rationalize.cli.data_tables import show_stats
    from rationalize.data.source import load
    from rationalize.data.stats import stats_of

    figures = stats_of(load(path, text_field=text_field, label_field=label_field))
    if as_json:
        typer.echo(to_json(figures.to_dict()))
    else:
        show_stats(figures)


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A data set in any format.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to make.")],
    to: Annotated[Target, typer.Option(help="Format to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a folder written before.")] = False,
    as_json: AsJson = False,
    text_field: TextField = "text",
    label_field: LabelField = "label",
) -> None:
    """Write a data set in another format; nothing is left behind if it fails.

    Example: rationalize data convert reviews.csv data/reviews --to jsonl
    """
    from dataclasses import asdict

    from rationalize.cli.data_tables import show_conversion, show_progress
    from rationalize.data.convert import convert as run

    with show_progress() as watch:
        done = run(
            source,
            out,
            to.value,
            force=force,
            text_field=text_field,
            label_field=label_field,
            watch=watch,
        )
    if as_json:
        typer.echo(to_json(asdict(done)))
    else:
        show_conversion(done)


app.command("planted")(data_planted.planted)


def _pieces(encoder: str) -> Callable[[str], list[tuple[int, int]]]:
    from rationalize.models.tokenizer import load_tokenizer

    tokenizer: Any = load_tokenizer(encoder)

    def pieces(text: str) -> list[tuple[int, int]]:
        encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [(start, end) for start, end in encoded["offset_mapping"]]

    return pieces
