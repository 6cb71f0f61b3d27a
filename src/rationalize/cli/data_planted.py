"""`rationalize data planted`: make the corpus with a planted shortcut."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli.flags import Force, make_json_flag
from rationalize.reporting.terminal import echo, echo_json

if TYPE_CHECKING:
    from rationalize.data.planted.planted_statistics import PlantedStats

_SIZE = "Documents in {}; 0 leaves the split out."


def planted(
    out: Annotated[Path, typer.Option(help="Folder to make, in ERASER's layout.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same corpus.")] = 0,
    correlation: Annotated[
        float, typer.Option(help="Share of documents whose shortcut agrees with the label; reversed in ood.")
    ] = 0.9,
    train: Annotated[int, typer.Option(help=_SIZE.format("train"))] = 2000,
    dev: Annotated[int, typer.Option(help=_SIZE.format("dev"))] = 300,
    test: Annotated[int, typer.Option(help=_SIZE.format("test"))] = 400,
    ood: Annotated[int, typer.Option(help=_SIZE.format("ood, where the shortcut is reversed"))] = 400,
    gold_classes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="Only this label has rationales, in the others nothing is marked; may be repeated.",
        ),
    ] = None,
    force: Force = False,
    as_json: Annotated[bool, make_json_flag("Print the figures as JSON.")] = False,
) -> None:
    """Make a review corpus with known evidence and a known shortcut, which is reversed in `ood`.

    Example: rationalize data planted --out data/planted --seed 0
    """
    from dataclasses import asdict

    from rationalize.config import validate
    from rationalize.data.planted import PlantedConfig
    from rationalize.data.planted.folder import write_planted

    wanted = {"train": train, "dev": dev, "test": test, "ood": ood}
    sizes = {split: size for split, size in wanted.items() if size}
    values: dict[str, object] = {"seed": seed, "sizes": sizes, "correlation": correlation}
    if gold_classes:
        values["gold_classes"] = gold_classes
    config = validate(PlantedConfig, values, "planted corpus")
    figures = write_planted(config, out, force=force)
    if as_json:
        rows = {split: asdict(each) for split, each in figures.items()}
        echo_json({"folder": str(out), "settings": config.model_dump(), "splits": rows})
    else:
        echo("\n".join([f"wrote {out}", *(format_split(*split) for split in figures.items())]))


def format_split(split: str, figures: PlantedStats) -> str:
    """Say what a split is like, in one line."""
    return (
        f"{split}: {figures.documents} documents of {figures.words:.0f} words, "
        f"{figures.gold_share:.1%} gold, {figures.shortcut_share:.1%} shortcut, "
        f"which agrees with the label in {figures.correlation:.1%}"
    )
