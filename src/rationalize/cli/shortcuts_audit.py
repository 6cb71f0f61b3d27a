"""`rationalize shortcuts audit`: which fixed phrases in a data set give the label away."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from rationalize.cli.flags import Device
from rationalize.files import to_json


def audit(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A folder, a .tar.gz or .zip, or a file.")],
    split: Annotated[str, typer.Option(help="Which split.")] = "train",
    html: Annotated[Path | None, typer.Option(help="Also write a page with examples here.")] = None,
    model: Annotated[
        Path | None, typer.Option(help="A model or run folder: what does it select, how easily is it misled?")
    ] = None,
    queries: Annotated[
        bool, typer.Option("--queries", help="Audit the queries instead of the texts.")
    ] = False,
    min_words: Annotated[int, typer.Option(help="Shortest phrase.")] = 3,
    max_words: Annotated[int, typer.Option(help="Longest phrase.")] = 8,
    min_documents: Annotated[int, typer.Option(help="Test only phrases in this many documents.")] = 10,
    min_cohesion: Annotated[float, typer.Option(help="How fixed a phrase is to be suspected, 0 to 1.")] = 0.3,
    sample: Annotated[int, typer.Option(help="Documents in which phrases are replaced.")] = 200,
    semantic: Annotated[
        bool, typer.Option(help="Also replace by words near in meaning (loads an encoder).")
    ] = True,
    seed: Annotated[int, typer.Option(help="Decides folds, samples and replacements.")] = 0,
    device: Device = "auto",
    text_field: Annotated[str, typer.Option(help="Field or column with the text (not for ERASER).")] = "text",
    label_field: Annotated[
        str, typer.Option(help="Field or column with the label (not for ERASER).")
    ] = "label",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Find phrases that give the label away without being evidence; few or no gold rationales are needed.

    Example: rationalize shortcuts audit reviews.csv --html audit.html

    Example: rationalize shortcuts audit data/movies --no-semantic --json
    """
    from rich.console import Console

    from rationalize.audit.audit import audit as run
    from rationalize.audit.audit import queries_as_texts
    from rationalize.audit.audit_report import AuditView, write_audit
    from rationalize.audit.rules import AuditConfig
    from rationalize.config import validate
    from rationalize.data.source import data_name, load
    from rationalize.devices import resolve_device

    values = {
        "min_words": min_words,
        "max_words": max_words,
        "min_documents": min_documents,
        "min_cohesion": min_cohesion,
        "sample": sample,
        "semantic": semantic,
        "seed": seed,
        "device": device,
    }
    config = validate(AuditConfig, values, "shortcuts audit")
    resolve_device(device)  # before the data are read
    name = f"{data_name(data)}, {split}{', queries' if queries else ''}"
    with Console(stderr=True).status("looking for shortcuts"):
        examples = load(data, split, text_field=text_field, label_field=label_field).split(split)
        examples = queries_as_texts(examples, name) if queries else examples
        engine = None
        if model is not None:
            from rationalize.runs.model_folder import load_model

            engine = load_model(model, device).engine()
        found = run(examples, config, engine=engine, name=name)
    if html is not None:
        write_audit(html, found, shlex.join(["rationalize", *sys.argv[1:]]))
    if as_json:
        typer.echo(to_json(found.to_dict()))
    else:
        console = Console(highlight=False)
        # A pipe has no width; the usual guess of 80 would break every phrase.
        console = console if console.is_terminal else Console(highlight=False, width=160)
        console.print(AuditView(found))
