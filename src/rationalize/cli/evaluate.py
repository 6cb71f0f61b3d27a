"""`rationalize evaluate`: every metric of a saved model on a data set."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rationalize.cli.flags import Device
from rationalize.cli.show import this_command
from rationalize.files import json_line, to_json, write_json, write_text

if TYPE_CHECKING:
    from rationalize.evaluation.faithfulness import Faithfulness
    from rationalize.inference.engine import Explained


class Removal(StrEnum):
    """How words are taken away."""

    drop = "drop"
    mask = "mask"


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model folder or a run folder.")],
    data: Annotated[str, typer.Option(help="A folder, archive or file with labeled examples.")],
    split: Annotated[str, typer.Option(help="Which split.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Score a stratified sample of this size.")] = None,
    truncate: Annotated[
        bool, typer.Option(help="Read only what fits the encoder, as the papers do.")
    ] = False,
    device: Device = "auto",
    label_map: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA=MODEL", help="The data's label for a class of the model; repeatable."),
    ] = None,
    faithfulness: Annotated[
        Removal | None,
        typer.Option(
            help="Also comprehensiveness and sufficiency, by deleting or masking words. Up to 24 reduced texts "
            "per example, as costly as explaining each example twelve times."
        ),
    ] = None,
    oracle_label: Annotated[
        bool, typer.Option(help="Tell the selector the gold label (car): published practice, not fair.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Also write the results here, as JSON.")] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Also write every explanation here, JSON Lines.")
    ] = None,
    eraser_out: Annotated[
        Path | None, typer.Option(help="Also write ERASER's result format here, for its official scorer.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write a page here: numbers, training, examples, worst mistakes.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Score a model: task, rationale, selector health, with trivial selectors beside it.

    Example: rationalize evaluate runs/movies --data movies.tar.gz --split test --faithfulness drop

    Transfer: rationalize evaluate runs/movies --data imdb.csv --label-map positive=POS --label-map negative=NEG
    """
    from rationalize.cli.show import results_table
    from rationalize.data.source import load
    from rationalize.data.splits import limit as sample
    from rationalize.evaluation.faithfulness import faithfulness as measure
    from rationalize.evaluation.query_alone import predict_queries
    from rationalize.evaluation.scoring import evaluate as score
    from rationalize.evaluation.transfer import map_labels, names_in_data, parse_label_map
    from rationalize.reporting.progress import track
    from rationalize.runs.model_folder import load_model

    labels = parse_label_map(label_map or [])
    loaded = load_model(model, device)
    engine = loaded.engine(oracle_label=oracle_label)
    given = load(data, split).split(split)
    examples = map_labels(given, loaded.config.labels, labels, data)
    names = names_in_data(given, loaded.config.labels, labels, data) if eraser_out else {}
    examples = sample(examples, limit) if limit else examples
    stream = engine.explain(examples, truncate=truncate)
    explained = list(track(stream, f"explaining {split}", len(examples)))
    measured = None
    if faithfulness:
        again = track(explained, "reading reduced texts", len(explained))
        measured = measure(engine, again, removal=faithfulness.value)
    of_queries = predict_queries(engine, examples)
    results = score(explained, split=split, faithfulness=measured, of_queries=of_queries)
    results |= {"encoder": loaded.config.encoder.name, "label_map": labels}
    if out:
        write_json(out, results)
    if predictions:
        write_text(predictions, "".join(json_line(item.explanation.to_dict()) for item in explained))
    if eraser_out:
        _write_eraser(eraser_out, explained, split, measured, names, whole=not limit)
    if report:
        _write_page(report, model, results, explained)
    if as_json:
        typer.echo(to_json(results))
    else:
        results_table({f"{results['method']} ({split})": results})


def _write_page(path: Path, model: Path, results: dict[str, Any], explained: list[Explained]) -> None:
    from rationalize.reporting.report import write_report
    from rationalize.reporting.run_report import run_report

    pairs = [(item.encoded.example, item.explanation) for item in explained]
    write_report(path, run_report(model, results, pairs, this_command()))
    typer.echo(f"Report: {path}", err=True)


def _write_eraser(
    path: Path,
    explained: list[Explained],
    split: str,
    faithfulness: Faithfulness | None,
    names: dict[str, str],
    *,
    whole: bool,
) -> None:
    from rationalize.data.dataset import split_name
    from rationalize.evaluation.eraser_results import eraser_results

    rows, notes = eraser_results(explained, split=split_name(split), faithfulness=faithfulness, names=names)
    write_text(path, "".join(map(json_line, rows)))
    if not whole:
        notes.append("A sample: the official scorer stops at the first annotation without a row.")
    for note in notes:
        typer.echo(f"{path}: {note}", err=True)
