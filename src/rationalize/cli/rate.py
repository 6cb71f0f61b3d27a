"""`rationalize rate …`: people and language models grade rationales without knowing their models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rationalize.cli import rate_llm, rate_report
from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import Browser, Device, Port, make_json_flag
from rationalize.cli.show import parse_pairs
from rationalize.reporting.terminal import echo, echo_json

app = typer.Typer(
    help="Collect grades of rationales: usefulness, completeness, fluency.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A study made by `rate prepare`.")]


@app.command()
@add_reading_options
def prepare(
    out: Annotated[Path, typer.Option(help="The study folder to make.")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FOLDER", help="A model or run folder, by the name to report it under; repeatable."
        ),
    ] = None,
    predictions: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="Finished predictions (`explain --out`) instead; repeatable."),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="A folder, archive or file; needed with --model.")] = None,
    split: Annotated[str, typer.Option(help="Which split.")] = "test",
    samples: Annotated[int, typer.Option(min=1, help="Examples to take, stratified by label.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Decides the sample and the order.")] = 0,
    device: Device = "auto",
    as_json: Annotated[bool, make_json_flag("Print what was made as JSON.")] = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Explain the same examples with every model, and write them blinded and shuffled.

    Raters see study.json and items.jsonl. Keep key.json, which maps each rationale to its model, away from them.

    Example: rationalize rate prepare --model ssr=runs/ssr --model base=runs/base --data data/movies --out study
    """
    from rationalize.ratings.prepare_study import StudyPlan, prepare_study
    from rationalize.reporting.progress import track

    plan = StudyPlan(
        models=_parse_paths(model, "--model"),
        predictions=_parse_paths(predictions, "--predictions"),
        data=data,
        split=split,
        samples=samples,
        seed=seed,
        out=out,
        reading=reading.to_options(),
        device=device,
    )
    info = prepare_study(plan, track)
    if as_json:
        echo_json({"folder": str(out), **info.model_dump(mode="json")})
        return
    echo(f"{info.items} items ({info.examples} examples × {len(info.sources)} models): {out}")
    echo(f"Keep {out / 'key.json'} away from raters until the report.")
    echo(f"Next: rationalize rate human {out} --rater YOUR_NAME")
    echo(f"      rationalize rate llm {out} --base-url URL --model NAME --dry-run")


def _parse_paths(given: list[str] | None, flag: str) -> dict[str, Path]:
    pairs = parse_pairs(given, flag, f"NAME=PATH, for instance {flag} ssr=runs/ssr", once=True)
    return {name: Path(path) for name, path in pairs.items()}


@app.command()
def human(
    folder: Folder,
    rater: Annotated[str, typer.Option(help="Your name; the same name continues where it stopped.")],
    port: Port = 0,
    browser: Browser = True,
) -> None:
    """Grade rationales on a local page; Ctrl-C ends it, and every grade is saved at once.

    Example: rationalize rate human study --rater anna
    """
    import shlex
    import webbrowser

    from rationalize.cli.serve import require_packages

    with require_packages("rate human"):
        from rationalize.studio.rate_hosting import RaterProgress, host_rater

    def show_address(url: str, before: RaterProgress) -> None:
        if before.done:
            echo(f"{rater} has rated {before.done} of {before.items} items. Not you? Use another --rater.")
        echo(f"Rate here: {url}\nCtrl-C ends the session; every grade is saved.")
        if browser:
            webbrowser.open(url)

    after = host_rater(folder, rater, port=port, on_open=show_address)
    echo(f"\n{rater} has rated {after.done} of {after.items} items.")
    verb = f"report {folder}" if after.finished else f"human {folder} --rater {shlex.quote(rater)}"
    echo(f"Next: rationalize rate {verb}")


app.command("llm")(rate_llm.llm)
app.command("report")(rate_report.report)
