"""`rationalize data suspects`: labels that a model contradicts, for people to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import AsJson, Device, GuardFormulas, Quiet, Trust
from rationalize.errors import ConfigError
from rationalize.reporting.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from rationalize.evaluation.label_suspects import LabelSuspect

ENDINGS = (".csv", ".jsonl")
COLUMNS = ("id", "label", "predicted", "confidence", "margin", "review", "rationale", "text")
SHOWN = 20


@add_reading_options
def suspects(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A data set with labels.")],
    model: Annotated[str, typer.Option(help="A model folder, a run folder or a Hub id.")],
    split: Annotated[
        str, typer.Option(help="Which split; a model contradicts least what it was trained on.")
    ] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="List at most so many.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write them here: a .csv or .jsonl.")] = None,
    guard_formulas: GuardFormulas = True,
    trust: Trust = None,
    device: Device = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
    *,
    reading: ReadingFlags,
) -> None:
    """List labels that are probably wrong: those that a model contradicts, the surest first.

    Example: rationalize data suspects data/posts --model runs/posts --split dev --out suspects.csv
    """
    from rationalize.data.source import read_examples
    from rationalize.evaluation.label_suspects import find_suspects
    from rationalize.rationalizer import Rationalizer
    from rationalize.reporting.progress import track

    if out is not None and out.suffix not in ENDINGS:
        raise ConfigError(
            f"{out}: unknown kind of file. Expected one ending in {' or '.join(ENDINGS)}.", field="out"
        )
    loaded = Rationalizer.from_pretrained(model, device=device, trust=trust)
    given = read_examples(data, split, reading.to_options())
    labeled = [example for example in given if example.label is not None]
    if not labeled:
        raise ConfigError(f"{data}: no example of {split} has a label. Expected some to compare with.")
    explained = track(loaded.explain(iter(labeled)), "explaining", len(labeled), quiet=quiet)
    found = find_suspects(zip(labeled, explained, strict=True))
    kept = found if limit is None else found[:limit]
    if out is not None:
        _write(out, kept, guard_formulas=guard_formulas)
    if as_json:
        rows = [each.to_dict() for each in kept]
        echo_json({"split": split, "n_examples": len(labeled), "n_suspects": len(found), "suspects": rows})
        return
    _show(kept)
    echo(f"{len(found)} of {len(labeled)} labels of {split} are contradicted" + (f": {out}" if out else ""))


def _write(path: Path, found: list[LabelSuspect], *, guard_formulas: bool) -> None:
    from rationalize.files import atomic_file, csv_line, json_line
    from rationalize.printable import guard_formula

    guard = guard_formula if guard_formulas else str
    with atomic_file(path) as file:
        if path.suffix == ".jsonl":
            file.writelines(json_line(each.to_dict()) for each in found)
            return
        file.write(csv_line(COLUMNS))
        for each in found:
            row = each.to_dict()
            review = "" if each.review is None else str(each.review).lower()
            row |= {"rationale": " … ".join(each.rationale), "review": review}
            row |= {name: f"{row[name]:.6f}" for name in ("confidence", "margin")}
            file.write(csv_line(tuple(guard(str(row[name])) for name in COLUMNS)))


def _show(found: list[LabelSuspect]) -> None:
    from rich.table import Table
    from rich.text import Text

    from rationalize.printable import to_one_line

    table = Table()
    for column in ("id", "label", "model", "sure", "review", "because of"):
        table.add_column(column, overflow="fold")
    for each in found[:SHOWN]:
        review = "yes" if each.review else ""
        words = " … ".join(each.rationale)
        cells = (each.id, each.label, each.predicted, f"{each.confidence:.2f}", review, words)
        table.add_row(*(Text(to_one_line(cell)) for cell in cells))
    if found:
        make_console().print(table)
