"""`rationalize data …`: get, check, describe, convert, split and make data sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rationalize.cli import data_get, data_plant, data_planted, data_suspects
from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import AsJson, Force
from rationalize.errors import ConfigError
from rationalize.format_names import WriteAs
from rationalize.reporting.terminal import echo_json

if TYPE_CHECKING:
    from rationalize.data.conversion import Conversion

app = typer.Typer(help="Get, check, describe, convert, split and make data sets.", no_args_is_help=True)
app.command("get")(data_get.get)

DataPath = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A folder, a .tar.gz or .zip, a file, a pattern ('posts-*.jsonl') or an address (s3:// …).",
    ),
]
DevShare = Annotated[
    float | None,
    typer.Option(
        help="Share of the examples for dev; 0 leaves it out.",
        show_default="0.1; of less than 3,000 examples up to 0.2, to have 300",
    ),
]
NewFolder = Annotated[Path, typer.Argument(metavar="OUT", help="Folder to make.")]
NewPlace = Annotated[
    str,
    typer.Argument(metavar="OUT", help="Folder to make, also in a store (s3://…, gs://…, hf://…)."),
]


@app.command()
@add_reading_options
def check(
    path: DataPath,
    reading: ReadingFlags,
    as_json: AsJson = False,
    encoder: Annotated[
        str | None, typer.Option(help="Also count the gold words that this encoder's length limit cuts off.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Word pieces that fit; 512 if only --encoder is given.")
    ] = None,
) -> None:
    """Find all problems of a data set. Exit code 2 if there are errors.

    Example: rationalize data check data/movies --encoder minilm --max-tokens 256
    """
    from rationalize.cli.data_tables import show_check
    from rationalize.data import validate

    if encoder is None and max_tokens is not None:
        raise ConfigError("--max-tokens: needs an encoder to count word pieces. Add --encoder minilm.")
    report = validate.check(
        path,
        reading.to_options(),
        pieces=_make_cutter(encoder) if encoder else None,
        max_tokens=(max_tokens or 512) if encoder else None,
    )
    if as_json:
        echo_json(report.to_dict())
    else:
        show_check(report)
    if not report.ok:
        raise typer.Exit(2)


@app.command()
@add_reading_options
def stats(path: DataPath, reading: ReadingFlags, as_json: AsJson = False) -> None:
    """Show what a data set looks like: rows, labels, lengths, gold.

    Example: rationalize data stats data/movies --json
    """
    from rationalize.cli.data_tables import show_stats
    from rationalize.data.data_stream import open_data
    from rationalize.data.stats import measure_data

    with open_data(path, reading.to_options()) as data:
        figures = measure_data(data)
    if as_json:
        echo_json(figures.to_dict())
    else:
        show_stats(figures)


@app.command()
@add_reading_options
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A data set in any format.")],
    out: NewPlace,
    reading: ReadingFlags,
    to: Annotated[WriteAs, typer.Option(help="Format to write.")],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a data set in another format; nothing is left behind if it fails.

    Example: rationalize data convert reviews.csv data/reviews --to jsonl

    Example: rationalize data convert project-7.json data/project --to jsonl
    """
    from rationalize.cli.data_tables import show_progress
    from rationalize.data.conversion import convert as run

    with show_progress() as watch:
        done = run(source, out, to, reading.to_options(), force=force, watch=watch)
    _show_written(done, as_json=as_json)


@app.command()
@add_reading_options
def split(
    source: Annotated[Path, typer.Argument(metavar="DATA", help="A data set with one split.")],
    out: NewFolder,
    reading: ReadingFlags,
    dev: DevShare = None,
    test: Annotated[float, typer.Option(help="Share of the examples for test; 0 leaves it out.")] = 0.1,
    seed: Annotated[int, typer.Option(min=0, help="Decides which examples go where.")] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Split a data set without splits into train, dev and test, as JSON Lines.

    Every split has the same share of each label, and the same text is never in two splits.

    Example: rationalize data split posts.csv data/posts --text-field body --label-field stance
    """
    from rationalize.data.conversion import split_data

    done = split_data(source, out, reading.to_options(), dev=dev, test=test, seed=seed, force=force)
    _show_written(done, as_json=as_json)


def _show_written(done: Conversion, *, as_json: bool) -> None:
    from dataclasses import asdict

    from rationalize.cli.data_tables import show_conversion

    if as_json:
        echo_json(asdict(done))
    else:
        show_conversion(done)


app.command("plant")(data_plant.plant)
app.command("planted")(data_planted.planted)
app.command("suspects")(data_suspects.suspects)


def _make_cutter(encoder: str) -> Callable[[str], list[tuple[int, int]]]:
    from rationalize.models.tokenizer import load_tokenizer

    tokenizer: Any = load_tokenizer(encoder)

    def pieces(text: str) -> list[tuple[int, int]]:
        encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [(start, end) for start, end in encoded["offset_mapping"]]

    return pieces
