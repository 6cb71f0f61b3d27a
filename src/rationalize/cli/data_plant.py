"""`rationalize data plant`: put a known shortcut into real text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.data_planted import format_split
from rationalize.cli.flags import Force, make_json_flag
from rationalize.errors import ConfigError
from rationalize.reporting.terminal import echo, echo_json

if TYPE_CHECKING:
    from rationalize.data.planted.plant_config import Kind

_PAIR = "TEXT=LABEL"
_Texts = list[str] | None


def _make_option(help: str) -> Any:
    return typer.Option(metavar=_PAIR, help=f"{help} May be repeated.")


@add_reading_options
def plant(
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="A folder, a .tar.gz or .zip, or a file, with a test split."),
    ],
    out: Annotated[Path, typer.Option(help="Folder to make, of JSON Lines.")],
    reading: ReadingFlags,
    phrases: Annotated[_Texts, _make_option("A phrase, anywhere outside gold.")] = None,
    single_words: Annotated[_Texts, _make_option("A word, anywhere outside gold.")] = None,
    punctuation: Annotated[_Texts, _make_option("Punctuation at the end of the text.")] = None,
    tokens: Annotated[
        _Texts, _make_option("A token at the beginning, as metadata would be ('<web>=spam').")
    ] = None,
    correlation: Annotated[
        float, typer.Option(help="Share of documents whose shortcut agrees with the label; reversed in ood.")
    ] = 0.9,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same data.")] = 0,
    force: Force = False,
    as_json: Annotated[bool, make_json_flag("Print the figures as JSON.")] = False,
) -> None:
    """Put a shortcut into real text that goes with the label, and against it in `ood`, a copy of test.

    Example: rationalize data plant tweets.tar.gz --out data/planted-tweets --phrases "as i said=positive"

    Example: rationalize data plant reviews.csv --out data/marked --punctuation "!!=POS" --correlation 0.8
    """
    from dataclasses import asdict

    from rationalize.config import validate
    from rationalize.data.planted import PlantConfig, plant_data

    shortcuts = [
        *_read_plans(phrases, "--phrases", "phrase"),
        *_read_plans(single_words, "--single-words", "word"),
        *_read_plans(punctuation, "--punctuation", "punctuation"),
        *_read_plans(tokens, "--tokens", "token"),
    ]
    if not shortcuts:
        raise ConfigError(
            f"saw nothing to plant, expected --phrases, --single-words, --punctuation or --tokens {_PAIR}."
        )
    values = {"shortcuts": shortcuts, "correlation": correlation, "seed": seed}
    config = validate(PlantConfig, values, "plant")
    done = plant_data(data, out, config, reading.to_options(), force=force)
    if as_json:
        echo_json({**asdict(done), "settings": config.model_dump()})
        return
    echo(f"wrote {done.out}")
    for split, figures in done.splits.items():
        echo(format_split(split, figures))
    if done.replaced:
        echo(f"note: the data had a split ood ({done.replaced} examples), which is left out.")
    if done.already:
        echo(f"note: {done.already} documents held one of these shortcuts before, where it is not marked.")


def _read_plans(given: Iterable[str] | None, flag: str, kind: Kind) -> list[dict[str, str]]:
    plans = []
    for pair in given or ():
        text, equals, label = pair.rpartition("=")  # punctuation may be an equals sign
        if not (text and equals and label):
            raise ConfigError(f"{flag} {pair!r}: expected {_PAIR}.")
        plans.append({"text": text, "label": label, "kind": kind})
    return plans
