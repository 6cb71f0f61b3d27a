"""`rationalize demo`: all steps on a built-in corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli.flags import Seed, make_json_flag
from rationalize.printable import to_one_line
from rationalize.reporting.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from rationalize.cli.demo_story import Discovery
    from rationalize.reporting.report import ExampleView


def demo(
    out: Annotated[Path, typer.Option(help="Where runs and the report go.")] = Path("demo"),
    seed: Seed = 0,
    quick: Annotated[
        bool, typer.Option(help="Tiny sizes: takes seconds, only to see that it works.")
    ] = False,
    as_json: Annotated[bool, make_json_flag("Print the results as JSON.")] = False,
) -> None:
    """Train on a corpus with a planted shortcut, show which methods fall for it, write report.html.

    Example: rationalize demo --out demo
    """
    from rationalize.cli.demo_story import run_demo
    from rationalize.cli.show import show_results

    story = run_demo(out, seed=seed, quick=quick, announce=lambda text: echo(text, err=True))
    if as_json:
        rows = {
            name: {split: each.to_dict() for split, each in found.items()}
            for name, found in story.results.items()
        }
        echo_json(rows)
        return
    _show_highlights(story.views[:2])
    _show_discovered(story.discovery)
    for split in ("test", "ood"):
        found = {name: results[split] for name, results in story.results.items()}
        show_results(found, title=f"Split {split}", details=False)  # the report has them
    echo(f"\nReport: {story.report} (open it in a browser)")
    echo("Next:   rationalize methods                      list all methods")
    echo("        rationalize data check YOUR.jsonl        check your own data")
    echo("        rationalize train --data YOUR.jsonl      train on it")


def _show_discovered(found: Discovery) -> None:
    echo(f"\nDiscovered shortcuts: {found.n_shortcuts} in {found.n_examples} annotated documents")
    for phrase, count in found.phrases[:6]:
        echo(f"  {count:3d} x {phrase}")
    if found.precision is not None:
        echo(f"  of the planted words: precision {found.precision:.2f}, recall {found.recall:.2f}\n")


def _show_highlights(views: list[ExampleView]) -> None:
    from rationalize.reporting.highlight import explanation_text

    console = make_console()
    for view in views:
        console.rule(to_one_line(f"{view.example.id}: the label is {view.example.label}"))
        for name, explanation in view.explanations.items():
            console.print(name, style="bold")
            console.print(
                explanation_text(explanation, gold=view.example.rationale, shortcuts=view.example.shortcuts)
            )
