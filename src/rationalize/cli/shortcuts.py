"""`rationalize shortcuts …`: find shortcuts with a model and gold rationales, or audit a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rationalize.cli import flags, shortcuts_audit
from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.show import get_command_line, show_warning, tell_how_to_continue
from rationalize.printable import to_one_line
from rationalize.reporting.terminal import echo_json, make_console

app = typer.Typer(
    help="Find shortcuts: with a trained Un-RAT, or by auditing a data set.", no_args_is_help=True
)
app.command("audit")(shortcuts_audit.audit)


@app.command()
@add_reading_options
def discover(
    data: Annotated[str, typer.Option(help="A data set with gold rationales for some training examples.")],
    out: Annotated[Path, typer.Option(help="Where the model and the shortcuts go.")] = Path("runs/shortcuts"),
    config: Annotated[Path | None, typer.Option(help="A YAML config for everything else.")] = None,
    encoder: flags.EncoderSetting = None,
    epochs: flags.EpochsSetting = None,
    limit: flags.LimitSetting = None,
    device: flags.DeviceSetting = None,
    override: flags.Override = None,
    as_json: Annotated[bool, flags.make_json_flag("Print the statistics as JSON.")] = False,
    quiet: flags.Quiet = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Train Un-RAT on the examples without gold, and list what it selects in the others that people did not mark.

    Writes OUT/shortcuts.jsonl (the annotated examples with their shortcuts) and OUT/shortcuts.json (statistics).
    An interrupted run continues where it stopped.

    Example: rationalize shortcuts discover --data movies.tar.gz --limit 400 --out runs/movie-shortcuts
    """
    from rationalize.files import read_json
    from rationalize.rationalizer import Rationalizer
    from rationalize.runs.run_folder import is_run_folder
    from rationalize.runs.settings import load_config

    given = {
        "method": "ssr_unif",
        "data.path": data,
        "encoder.name": encoder,
        "training.epochs": epochs,
        "data.limit": limit,
        "device": device,
    }
    chosen = load_config(config, flags.collect_settings(given | reading.to_settings(), override))
    with tell_how_to_continue(get_command_line(), lambda: is_run_folder(out)):
        written = Rationalizer.from_config(chosen).discover_shortcuts(data, out, quiet=quiet)
    numbers = read_json(written)
    if as_json:
        echo_json(numbers)
    else:
        _show(numbers, written.with_suffix(".jsonl"))


def _show(numbers: dict[str, Any], examples: Path) -> None:
    from rich.table import Table

    console = make_console()
    labels = list(numbers["by_class"])
    table = Table(title="Commonest shortcut phrases")
    table.add_column("phrase", overflow="fold")
    for column in ("n", *labels):
        table.add_column(to_one_line(column), justify="right")
    for row in numbers["phrases"]:
        table.add_row(
            to_one_line(row["phrase"]),
            str(row["n"]),
            *(str(row["by_class"].get(label, 0)) for label in labels),
        )
    console.print(table)
    console.print(
        f"{numbers['n_repeated']} of {numbers['n_shortcuts']} shortcuts (runs of at least {numbers['min_run']}) share "
        "that many words with one of another example"
    )
    if score := numbers.get("finder"):
        console.print(
            f"finder: {score['accuracy']:.1%} right on {score['n']} dev examples (95 % interval {score['low']:.1%} "
            f"to {score['high']:.1%}; the commonest label: {score['majority']:.1%})"
        )
    for label, row in numbers["by_class"].items():
        console.print(f"{label}: {row['n_with_shortcut']} of {row['n_examples']} examples have a shortcut")
    if truth := numbers.get("against_truth"):
        console.print(
            f"compared with the known shortcuts: precision {truth['precision']}, recall {truth['recall']}"
        )
    if carried := numbers.get("propagated"):
        console.print(
            f"carried over to {carried['n_with_shortcut']} of {carried['n_examples']} examples without annotation"
        )
    for warning in numbers["warnings"]:
        show_warning(console, warning)
    console.print(f"\nExamples with their shortcuts: {examples}")
    console.print(f"Next: rationalize augment {examples} --kind random")
