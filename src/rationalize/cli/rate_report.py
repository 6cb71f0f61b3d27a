"""`rationalize rate report`: summarize the ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rationalize.cli.flags import AsJson
from rationalize.reporting.terminal import echo_json, make_console


def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A study made by `rate prepare`.")],
    page: Annotated[Path | None, typer.Option("--report", help="Also write a page here.")] = None,
    key: Annotated[Path | None, typer.Option(help="The key, if it is not FOLDER/key.json.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show means by model, agreement between raters, and differences between models.

    Example: rationalize rate report study --report ratings.html
    """
    from rich.text import Text

    from rationalize.printable import to_one_line
    from rationalize.ratings.rating_report import list_progress, make_rating_tables, report_ratings

    summary = report_ratings(folder, key=key, page=page)
    if as_json:
        echo_json(summary.to_dict())
        return
    console = make_console(wide=True)
    for line in list_progress(summary):
        console.print(Text(to_one_line(line)))
    for table in make_rating_tables(summary):
        console.print(table)
