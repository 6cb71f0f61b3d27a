"""`rationalize augment`: copy annotated examples with their shortcut words replaced."""

from __future__ import annotations

from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rationalize.cli.flags import Device
from rationalize.printable import to_one_line
from rationalize.reporting.terminal import echo, make_console


class Kind(StrEnum):
    """Ways to replace shortcut words."""

    random = "random"
    semantic = "semantic"
    mixed = "mixed"


def augment(
    data: Annotated[
        Path, typer.Argument(help="JSON Lines with `shortcuts`, e.g. from `shortcuts discover`.")
    ],
    kind: Annotated[Kind, typer.Option(help="random words, words near in meaning, or both.")] = Kind.random,
    out: Annotated[Path, typer.Option(help="Where the copies go, JSON Lines.")] = Path("augmented.jsonl"),
    model: Annotated[Path | None, typer.Option(help="A trained un_rat, for semantic and mixed.")] = None,
    copies: Annotated[
        int | None, typer.Option(min=1, help="Number of copies; default one per example.")
    ] = None,
    bag: Annotated[
        Path | None, typer.Option(help="More examples to draw random words from (JSON Lines).")
    ] = None,
    device: Device = "auto",
    seed: Annotated[int, typer.Option(min=0, help="Decides every random choice.")] = 0,
    show: Annotated[int, typer.Option(min=0, help="Print this many copies, replaced words marked.")] = 3,
) -> None:
    """Replace shortcut words; labels and gold words stay.

    Example: rationalize augment runs/shortcuts/shortcuts.jsonl --kind semantic --model runs/shortcuts/un_rat
    """
    from rationalize.augment.copies import make_copies as make
    from rationalize.data.jsonl import read_jsonl, write_jsonl
    from rationalize.errors import DataError
    from rationalize.locks import hold_folder
    from rationalize.runs.model_folder import load_model
    from rationalize.runs.run_folder import is_run_folder
    from rationalize.text.words import PLAIN

    examples = list(read_jsonl(data))
    if not any(example.shortcuts for example in examples):
        raise DataError(
            f"{data}: no example has `shortcuts`. Find them first: rationalize shortcuts discover."
        )
    everything = examples + (list(read_jsonl(bag)) if bag else [])
    with hold_folder(out.parent) if is_run_folder(out.parent) else nullcontext():
        finder = load_model(model, device).engine() if model else None
        rule = finder.text.words if finder else PLAIN
        made = make(kind.value, examples, everything, copies or len(examples), seed, rule, finder)
        write_jsonl(out, made)
    _show(made[:show])
    echo(f"{len(made)} copies: {out}")


def _show(examples: list) -> None:  # type: ignore[type-arg]
    from rationalize.reporting.layers import Layer, cut_segments
    from rationalize.reporting.marks import to_terminal

    console = make_console()
    for example in examples:
        console.rule(to_one_line(f"{example.id}: {example.label}"))
        layers = {Layer.GOLD: example.rationale or (), Layer.SHORTCUT: example.shortcuts or ()}
        console.print(to_terminal(cut_segments(example.text, layers)))
