"""Helpers shared by several verbs: parse pairs, print tables with their warnings."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rationalize.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from rationalize.evaluation.evaluation import Evaluation
    from rationalize.evaluation.verdict import Verdict


def get_command_line() -> str:
    """Return the running command line, ready to be typed again."""
    return f"rationalize {shlex.join(sys.argv[1:])}"


def parse_pairs(
    given: Iterable[str] | None, flag: str, expected: str = "NAME=VALUE", *, once: bool = False
) -> dict[str, str]:
    """Parse a repeated NAME=VALUE option; for a repeated name the last value counts, or with `once` it is refused."""
    found: dict[str, str] = {}
    for pair in given or ():
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise ConfigError(f"{flag} {pair!r}: expected {expected}.")
        if once and found.get(name, value) != value:
            raise ConfigError(
                f"{flag}: {name!r} has two values, {found[name]!r} and {value!r}. Give it once."
            )
        found[name] = value
    return found


def show_results(results: Mapping[str, Evaluation], title: str = "Results", *, warnings: bool = True) -> None:
    """Print one row per model, trivial selectors below, scores by class, and every health warning if wanted."""
    from rich.console import Console

    from rationalize.reporting.detail_tables import make_class_table
    from rationalize.reporting.result_table import metric_table, warnings_of

    console = Console()
    console.print(metric_table(results, title=title))
    if classes := make_class_table(results):
        console.print(classes)
    for name, warning in warnings_of(results) if warnings else ():
        console.print(f"[bold yellow]warning[/] {name}: {warning}", highlight=False)


def show_verdict(verdict: Verdict) -> None:
    """Print a verdict in words: what holds, what does not, which warnings there are, what to try next."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styles = {"+": "green", "-": "bold yellow", "!": "bold yellow", ">": ""}
    summary, *lines = verdict.list_lines()
    grid = Table.grid(padding=(0, 1, 0, 0))
    for line in lines:
        mark, text = line[0], line[2:]
        grid.add_row(Text(f" {mark}", style=styles[mark]), Text(text, style=styles[mark]))
    console = Console(highlight=False)
    console.print(Text(summary, style="bold"))
    console.print(grid)


def make_wide_console() -> Console:
    """Return a console for standard output; wide for a pipe, since the default of 80 turns every table on its side."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=160)
