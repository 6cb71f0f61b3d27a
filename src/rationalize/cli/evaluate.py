"""`rationalize evaluate`: every metric of a saved model on a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rationalize.files import json_line, to_json, write_json, write_text


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model folder or a run folder.")],
    data: Annotated[str, typer.Option(help="A folder, archive or file with labelled examples.")],
    split: Annotated[str, typer.Option(help="Which split.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Score a stratified sample of this size.")] = None,
    truncate: Annotated[
        bool, typer.Option(help="Read only what fits the encoder, as the papers do.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Also write the results here, as JSON.")] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Also write every explanation here, JSON Lines.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Score a model: task, rationale, selector health, with trivial selectors beside it.

    Example: rationalize evaluate runs/movies --data movies.tar.gz --split test
    """
    from rationalize.cli.show import results_table
    from rationalize.data.source import load
    from rationalize.data.splits import limit as sample
    from rationalize.errors import DataError
    from rationalize.evaluation.evaluate import evaluate as score
    from rationalize.model_folder import load_model
    from rationalize.reporting.progress import track

    loaded = load_model(model)
    examples = load(data, split).split(split)
    examples = sample(examples, limit) if limit else examples
    unknown = sorted({str(example.label) for example in examples} - {*loaded.config.labels, "None"})
    if unknown:
        raise DataError(
            f"{data}: label(s) {', '.join(unknown)} are unknown to the model, which has "
            f"{', '.join(loaded.config.labels)}."
        )
    stream = loaded.engine().explain(examples, truncate=truncate)
    explained = list(track(stream, f"explaining {split}", len(examples)))
    results = score(explained, split=split) | {"encoder": loaded.config.encoder.name}
    if out:
        write_json(out, results)
    if predictions:
        write_text(predictions, "".join(json_line(item.explanation.to_dict()) for item in explained))
    if as_json:
        typer.echo(to_json(results))
    else:
        results_table({f"{results['method']} ({split})": results})
