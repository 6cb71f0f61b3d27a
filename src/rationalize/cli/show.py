"""Helpers shared by several verbs: parse pairs, print tables with their warnings."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rationalize.errors import ConfigError
from rationalize.interrupts import Interrupted
from rationalize.printable import to_one_line
from rationalize.reporting.terminal import make_console

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


def show_results(
    results: Mapping[str, Evaluation], title: str = "Results", *, details: bool = True, warnings: bool = True
) -> None:
    """Print the scores of models and trivial selectors; if wanted, scores by class, confidence and health warnings."""
    from rationalize.reporting.detail_tables import make_class_table, make_confidence_table
    from rationalize.reporting.result_table import metric_table, warnings_of

    console = make_console()
    console.print(metric_table(results, title=title))
    for detail in (make_class_table(results), make_confidence_table(results)) if details else ():
        if detail:
            console.print(detail)
    for name, warning in warnings_of(results) if warnings else ():
        show_warning(console, f"{name}: {warning}")


def show_verdict(verdict: Verdict) -> None:
    """Print a verdict in words: what holds, what does not, which warnings there are, what to try next."""
    from rich.table import Table
    from rich.text import Text

    styles = {"+": "green", "-": "bold yellow", "!": "bold yellow", ">": ""}
    summary, *lines = map(to_one_line, verdict.list_lines())
    grid = Table.grid(padding=(0, 1, 0, 0))
    for line in lines:
        mark, text = line[0], line[2:]
        grid.add_row(Text(f" {mark}", style=styles[mark]), Text(text, style=styles[mark]))
    console = make_console()
    console.print(Text(summary, style="bold"))
    console.print(grid)


@contextmanager
def tell_how_to_continue(command: str, is_begun: Callable[[], bool]) -> Iterator[None]:
    """Add the command that continues the work to what an interrupt says, if any of the work is on disk."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if not is_begun():
            raise
        number = stop.signal if isinstance(stop, Interrupted) else signal.SIGINT
        raise Interrupted(f"{str(stop) or 'interrupted'}\nContinue with: {command}", number) from stop


def show_warning(console: Console, warning: str) -> None:
    """Print a warning."""
    from rich.text import Text

    console.print(Text.assemble(("warning", "bold yellow"), " ", to_one_line(warning)))
