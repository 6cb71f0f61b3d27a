"""`rationalize augment`: copy annotated examples with their shortcut words, or their evidence, replaced."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import Device, Seed
from rationalize.printable import to_one_line
from rationalize.reporting.terminal import echo, make_console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rationalize.types import Example


Kind = Literal["random", "semantic", "mixed", "counterfactual"]
"""Ways to replace shortcut words, or evidence."""


@add_reading_options
def augment(
    data: Annotated[
        Path,
        typer.Argument(help="Examples with `shortcuts` (`shortcuts discover`), or gold."),
    ],
    kind: Annotated[
        Kind, typer.Option(help="New words for shortcuts, or new evidence and label.")
    ] = "random",
    out: Annotated[Path, typer.Option(help="Where the copies go, JSON Lines.")] = Path("augmented.jsonl"),
    model: Annotated[Path | None, typer.Option(help="A trained un_rat, for semantic and mixed.")] = None,
    copies: Annotated[
        int | None, typer.Option(min=1, help="Number of copies; default one per example.")
    ] = None,
    bag: Annotated[Path | None, typer.Option(help="More examples to draw random words from.")] = None,
    exact_vectors: Annotated[
        int,
        typer.Option(min=1, help="Search among more texts through an index, and print how much it finds."),
    ] = 200_000,
    device: Device = "auto",
    seed: Seed = 0,
    show: Annotated[int, typer.Option(min=0, help="Print this many copies, replaced words marked.")] = 3,
    *,
    reading: ReadingFlags,
) -> None:
    """Replace shortcut words; labels and gold words stay. In counterfactual copies these two alone are new.

    Example: rationalize augment runs/shortcuts/shortcuts.jsonl --kind semantic --model runs/shortcuts/un_rat
    """
    from rationalize.augment.copies import augment_examples
    from rationalize.augment.semantic import describe_recall
    from rationalize.data.jsonl import write_jsonl
    from rationalize.data.source import read_data
    from rationalize.locks import hold_folder
    from rationalize.rationalizer import Rationalizer
    from rationalize.runs.run_folder import is_run_folder

    options = reading.to_options()
    given = read_data(data, options)
    with hold_folder(out.parent) if is_run_folder(out.parent) else nullcontext():
        made = augment_examples(
            given.list_examples(),
            kind,
            n=copies,
            more=read_data(bag, options).list_examples() if bag else (),
            seed=seed,
            rule=given.words,
            finder=Rationalizer.from_pretrained(model, device=device).model.engine() if model else None,
            exact_vectors=exact_vectors,
            on_recall=lambda recall: echo(describe_recall(recall)),
        )
        write_jsonl(out, made)
    _show(made[:show])
    echo(f"{len(made)} copies: {out}")


def _show(examples: Sequence[Example]) -> None:
    from rationalize.reporting.layers import Layer, cut_segments
    from rationalize.reporting.marks import to_terminal

    console = make_console()
    for example in examples:
        console.rule(to_one_line(f"{example.id}: {example.label}"))
        layers = {Layer.GOLD: example.rationale or (), Layer.SHORTCUT: example.shortcuts or ()}
        console.print(to_terminal(cut_segments(example.text, layers)))
