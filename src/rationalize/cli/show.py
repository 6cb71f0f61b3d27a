"""What several verbs print: tables of results with their warnings, to the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any


def this_command() -> str:
    """The command line that is running, as it could be typed again."""
    return f"rationalize {shlex.join(sys.argv[1:])}"


def results_table(results: Mapping[str, Mapping[str, Any]], title: str = "Results") -> None:
    """Print one row per model, trivial selectors below, and every health warning, loudly."""
    from rich.console import Console

    from rationalize.reporting.metric_table import metric_table, warnings_of

    console = Console()
    console.print(metric_table(results, title=title))
    for name, warning in warnings_of(results):
        console.print(f"[bold yellow]warning[/] {name}: {warning}", highlight=False)
