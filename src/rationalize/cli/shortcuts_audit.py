"""`rationalize shortcuts audit`: find what in a data set reveals the label: columns, phrases, words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import AsJson, Device
from rationalize.cli.show import get_command_line
from rationalize.reporting.terminal import echo_json, make_console


@add_reading_options
def audit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A folder, a .tar.gz or .zip, a file, a pattern ('posts-*.jsonl') or an address (s3:// …).",
        ),
    ],
    split: Annotated[str | None, typer.Option(help="Which split; default train, or the only one.")] = None,
    report: Annotated[Path | None, typer.Option(help="Also write a page with examples here.")] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="A model or run folder, to check what it selects and how easily it is misled."),
    ] = None,
    queries: Annotated[
        bool, typer.Option("--queries", help="Audit the queries instead of the texts.")
    ] = False,
    min_words: Annotated[int, typer.Option(help="Shortest phrase.")] = 3,
    max_words: Annotated[int, typer.Option(help="Longest phrase.")] = 8,
    min_documents: Annotated[
        int, typer.Option(help="Test only phrases in at least this many documents.")
    ] = 10,
    min_cohesion: Annotated[float, typer.Option(help="How fixed a suspected phrase must be, 0 to 1.")] = 0.3,
    sample: Annotated[int, typer.Option(help="Number of documents in which to replace phrases.")] = 200,
    semantic: Annotated[
        bool, typer.Option(help="Also replace by words near in meaning (loads an encoder).")
    ] = True,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes that count, if the documents are too many for memory.")
    ] = 1,
    seed: Annotated[int, typer.Option(help="Decides folds, samples and replacements.")] = 0,
    device: Device = "auto",
    as_json: AsJson = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Find columns, phrases and words that reveal the label without being evidence; gold rationales are not needed.

    Example: rationalize shortcuts audit reviews.csv --report audit.html

    Example: rationalize shortcuts audit data/movies --no-semantic --json

    Example: rationalize shortcuts audit 'posts-*.parquet' --workers 2 --report audit.html
    """
    from rationalize.audit.audit_report import AuditView, write_audit
    from rationalize.audit.whole_audit import audit_data

    values = {
        "min_words": min_words,
        "max_words": max_words,
        "min_documents": min_documents,
        "min_cohesion": min_cohesion,
        "sample": sample,
        "semantic": semantic,
        "seed": seed,
        "workers": workers,
        "device": device,
    }
    with make_console(stderr=True).status("looking for shortcuts"):
        found = audit_data(
            data,
            split,
            queries=queries,
            model=model,
            device=device,
            settings=values,
            reading=reading.to_options(),
        )
    if report is not None:
        write_audit(report, found, get_command_line())
    if as_json:
        echo_json(found.to_dict())
    else:
        make_console(wide=True).print(AuditView(found))
