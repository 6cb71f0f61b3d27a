"""`rationalize evaluate`: every metric of a saved model on a data set."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rationalize.cli import model_options as options
from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import Device, Quiet, TrainedModel, Truncate, Trust, make_json_flag
from rationalize.cli.show import get_command_line, parse_pairs, show_results
from rationalize.files import json_line, write_json, write_text
from rationalize.reporting.terminal import echo, echo_json

if TYPE_CHECKING:
    from rationalize.evaluation.evaluation import Evaluation


@add_reading_options
def evaluate(
    model: TrainedModel,
    data: options.LabeledData,
    split: options.WhichSplit = "test",
    limit: options.SampleSize = None,
    truncate: Truncate = False,
    trust: Trust = None,
    device: Device = "auto",
    label_map: options.LabelMap = None,
    faithfulness: options.Faithfulness = None,
    oracle_label: options.OracleLabel = False,
    min_precision: options.WantedPrecision = None,
    precision: options.InPrecision = "fp32",
    out: options.ResultsOut = None,
    predictions: options.PredictionsOut = None,
    eraser_out: options.EraserOut = None,
    report: options.ReportOut = None,
    as_json: Annotated[bool, make_json_flag("Print JSON instead of a table.")] = False,
    quiet: Quiet = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Score a model: task, rationale and selector health, compared with trivial selectors.

    Example: rationalize evaluate runs/movies --data movies.tar.gz --split test --faithfulness drop

    Transfer: rationalize evaluate runs/movies --data imdb.csv --label-map positive=POS --label-map negative=NEG
    """
    from rationalize.data.source import read_examples
    from rationalize.evaluation.transfer import invert_label_map
    from rationalize.rationalizer import Rationalizer
    from rationalize.reporting.wording import format_method

    labels = parse_pairs(
        label_map, "--label-map", "DATA_LABEL=MODEL_LABEL, for instance positive=POS", once=True
    )
    loaded = Rationalizer.from_pretrained(model, device=device, trust=trust)
    examples = read_examples(data, split, reading.to_options())
    names = invert_label_map(examples, loaded.labels, labels, data) if eraser_out else {}
    found = loaded.evaluate(
        examples,
        split,
        limit=limit,
        truncate=truncate,
        faithfulness=faithfulness,
        label_map=labels,
        oracle_label=oracle_label,
        precision=precision,
        quiet=quiet,
    )
    row = found.to_dict() | {"encoder": loaded.config.encoder.name, "label_map": labels}
    floors = _find_floors(found, min_precision)
    if min_precision is not None:
        row |= {"min_confidence": {"precision": min_precision, "labels": floors}}
    if out:
        write_json(out, row)
    if predictions:
        write_text(predictions, "".join(json_line(item.explanation.to_dict()) for item in found.explained))
    if eraser_out:
        _write_eraser(eraser_out, found, names, whole=not limit)
    if report:
        _write_page(report, Path(model), found)
    if as_json:
        echo_json(row)
    else:
        show_results({f"{format_method(found.method, oracle_label=found.oracle_label)} ({split})": found})
        for label, floor in floors.items():
            reached = "never" if floor is None else f"--min-confidence {shlex.quote(f'{label}={floor:.3f}')}"
            echo(f"{label}: right in {min_precision:.0%} of cases: {reached}")


def _find_floors(found: Evaluation, precision: float | None) -> dict[str, float | None]:
    from rationalize.evaluation.scoring import list_sure_labels
    from rationalize.metrics.confidence_scores import find_thresholds

    return {} if precision is None else find_thresholds(list_sure_labels(found.explained), precision)


def _write_page(path: Path, model: Path, found: Evaluation) -> None:
    from rationalize.reporting.report import make_run_report, write_report

    write_report(path, make_run_report(model, found, get_command_line()))
    echo(f"Report: {path}", err=True)


def _write_eraser(path: Path, found: Evaluation, names: dict[str, str], *, whole: bool) -> None:
    from rationalize.data.dataset import to_eraser_split
    from rationalize.evaluation.eraser_results import eraser_results

    rows, notes = eraser_results(
        found.explained, split=to_eraser_split(found.split), faithfulness=found.measured, names=names
    )
    write_text(path, "".join(map(json_line, rows)))
    if not whole:
        notes.append("Only a sample: the official scorer stops at the first annotation without a row.")
    for note in notes:
        echo(f"{path}: {note}", err=True)
