"""What several verbs share: pairs on the command line, and tables with their warnings on the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rationalize.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from rationalize.evaluation.evaluation import Evaluation


def this_command() -> str:
    """The command line that is running, as it could be typed again."""
    return f"rationalize {shlex.join(sys.argv[1:])}"


def parse_pairs(
    given: Iterable[str] | None, flag: str, expected: str = "NAME=VALUE", *, once: bool = False
) -> dict[str, str]:
    """Values by name, of an option that is repeated; of a name given twice the last counts, or with `once` none."""
    found: dict[str, str] = {}
    for pair in given or ():
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise ConfigError(f"{flag} {pair!r}: expected {expected}.")
        if once and found.get(name, value) != value:
            raise ConfigError(f"{flag}: {name!r} is given both {found[name]!r} and {value!r}. Give it once.")
        found[name] = value
    return found


def results_table(results: Mapping[str, Evaluation], title: str = "Results") -> None:
    """Print one row per model, trivial selectors below, and every health warning, loudly."""
    from rich.console import Console

    from rationalize.reporting.metric_table import metric_table, warnings_of

    console = Console()
    console.print(metric_table(results, title=title))
    for name, warning in warnings_of(results):
        console.print(f"[bold yellow]warning[/] {name}: {warning}", highlight=False)


def wide_console() -> Console:
    """Standard output; where it is a pipe, wide, since the usual guess of 80 would lay every table on its side."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=160)
