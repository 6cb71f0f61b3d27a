"""`rationalize demo`: the whole story on a built-in corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rationalize.reporting.report import ExampleView


def demo(
    out: Annotated[Path, typer.Option(help="Where runs and the report go.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Decides every random choice.")] = 0,
    quick: Annotated[bool, typer.Option(help="Tiny sizes: seconds, only to see that it works.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Train on a corpus with a planted shortcut, show who falls for it, write report.html.

    Example: rationalize demo --out demo
    """
    from rationalize.cli.demo_story import run_demo
    from rationalize.cli.show import results_table
    from rationalize.files import to_json
    from rationalize.reporting.progress import TrainingDisplay

    told = run_demo(out, TrainingDisplay, seed=seed, quick=quick)
    if as_json:
        typer.echo(to_json(told.results))
        return
    _highlights(told.views[:2])
    _show_discovered(told.shortcuts)
    for split in ("test", "ood"):
        results_table({name: found[split] for name, found in told.results.items()}, title=f"Split {split}")
    typer.echo(f"\nReport: {told.report} (open it in a browser)")
    typer.echo("Next:   rationalize methods                      what else there is")
    typer.echo("        rationalize data check YOUR.jsonl        is your own data fit for training?")
    typer.echo("        rationalize train --data YOUR.jsonl      train on it")


def _show_discovered(shortcuts: dict[str, Any]) -> None:
    truth = shortcuts["against_truth"]
    typer.echo(
        f"\nDiscovered shortcuts: {shortcuts['n_shortcuts']} in {shortcuts['n_examples']} annotated documents"
    )
    for row in shortcuts["phrases"][:6]:
        typer.echo(f"  {row['n']:3d} x {row['phrase']}")
    if truth["precision"] is not None:
        typer.echo(
            f"  of the planted words: precision {truth['precision']:.2f}, recall {truth['recall']:.2f}\n"
        )


def _highlights(views: list[ExampleView]) -> None:
    from rich.console import Console

    from rationalize.reporting.highlight import explanation_text

    console = Console()
    for view in views:
        console.rule(f"{view.example.id}: the label is {view.example.label}")
        for name, explanation in view.explanations.items():
            console.print(f"[bold]{name}[/]")
            console.print(
                explanation_text(explanation, gold=view.example.rationale, shortcuts=view.example.shortcuts)
            )
