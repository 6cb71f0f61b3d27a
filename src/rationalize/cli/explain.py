"""`rationalize explain`: a label and the words that support it, for a text, standard input or a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from rationalize.cli import model_options as options
from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import (
    Device,
    GuardFormulas,
    On,
    Quiet,
    TrainedModel,
    Truncate,
    Trust,
    make_json_flag,
    parse_floors,
)
from rationalize.cli.given_text import clean_argument, read_standard_input
from rationalize.errors import ConfigError
from rationalize.format_names import ToolName
from rationalize.reporting.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from rationalize.corpus.bad_rows import BadRowFile
    from rationalize.corpus.corpus_settings import CorpusOutcome
    from rationalize.types import Example, Explanation


@add_reading_options
def explain(
    model: TrainedModel,
    text: options.GivenText = None,
    query: options.GivenQuery = None,
    file: options.GivenFile = None,
    out: options.ExplainedOut = None,
    format: options.FormatOfParts = None,
    workers: options.Workers = 1,
    on: On = None,
    resume: options.ResumeParts = False,
    bad_rows: options.BadRows = "skip",
    errors: options.BadBytes = "strict",
    guard_formulas: GuardFormulas = True,
    to: options.ToTool = None,
    truncate: Truncate = False,
    min_confidence: options.MinConfidence = None,
    trust: Trust = None,
    device: Device = "auto",
    batch_tokens: options.BatchTokens = None,
    precision: options.InPrecision = "fp32",
    as_json: Annotated[bool, make_json_flag("Print JSON Lines.")] = False,
    quiet: Quiet = False,
    *,
    reading: ReadingFlags,
) -> None:
    """Explain a text, standard input, or a whole file (streaming; ids are kept).

    Example: rationalize explain runs/movies "a gripping film from start to end"

    Example: rationalize explain runs/movies --file reviews.csv --text-field body --out explained.jsonl

    Example: rationalize explain runs/movies --file reviews.csv --to label_studio --out tasks.json

    Example: rationalize explain runs/movies --file 'posts-*.parquet' --out explained --workers 4
    """
    from rationalize.corpus.bad_rows import BadRowFile
    from rationalize.data.example_stream import estimate_rows, stream_examples
    from rationalize.flat_memory import bound_kernels
    from rationalize.rationalizer import Rationalizer
    from rationalize.reporting.progress import track
    from rationalize.types import Example

    _refuse_mixed(text, file, out, to, parts=resume or format is not None or workers > 1 or on is not None)
    text, query = (
        clean_argument(given, name, errors) for given, name in ((text, "TEXT"), (query, "--query"))
    )
    sure = parse_floors(min_confidence)
    bound_kernels()
    # A cluster's workers have devices of their own; from here, the model is only sent to them.
    loaded = Rationalizer.from_pretrained(model, device="cpu" if on else device, trust=trust)
    loaded.model.make_rule(sure)  # refuse labels that it does not have before anything is read

    def run(examples: Iterable[Example]) -> Iterator[Explanation]:
        return loaded.explain(
            iter(examples),
            truncate=truncate,
            batch_tokens=batch_tokens,
            min_confidence=sure,
            precision=precision,
        )

    if file is None:
        given = read_standard_input(errors) if text is None else text
        _show(next(run([Example("0", given, query=query)])), as_json=as_json)
        return
    bad = BadRowFile(out) if out is not None and bad_rows == "skip" else None
    examples = stream_examples(
        file,
        replace(reading.to_options(), empty_texts=True),
        errors=errors,
        on_bad_row=bad.add if bad else None,
    )
    if out is None:
        for item in track(run(examples), "explaining", quiet=quiet):
            _show(item, as_json=True)
        return
    done = loaded.explain_to(
        out,
        examples,
        format=format,
        to=to,
        workers=workers,
        on=on,
        device="cpu" if device == "auto" else device,
        resume=resume,
        truncate=truncate,
        batch_tokens=batch_tokens,
        guard_formulas=guard_formulas,
        min_confidence=sure,
        precision=precision,
        total=estimate_rows(file) or 0,
        on_read=bad.require_good if bad else lambda rows: None,
        quiet=quiet,
    )
    if to is not None and done.parts:
        _report_for_tool(to, done)
    if bad is not None and done.parts:
        _finish_bad_rows(bad, done.rows)
    if resume:
        again = f"{done.found} of {done.parts} parts were there already" if done.parts else "nothing to do"
        echo(f"{out}: {again}", err=True)


def _refuse_mixed(
    text: str | None, file: str | None, out: str | None, to: ToolName | None, *, parts: bool
) -> None:
    """Refuse options that do not go together."""
    if file is not None and text is not None:
        raise ConfigError("explain: give a text or --file, not both.")
    if out is not None and file is None:
        raise ConfigError("explain: --out needs --file.")
    if to is not None and out is None:
        raise ConfigError("explain: --to needs --file and --out.")
    if parts and out is None:
        raise ConfigError("explain: --workers, --on, --resume and --format need --out.")


def _finish_bad_rows(bad: BadRowFile, rows: int) -> None:
    bad.finish()
    if bad.rows:
        echo(f"{bad.rows} of {bad.rows + rows} rows could not be read: {bad.path}", err=True)


def _report_for_tool(to: ToolName, done: CorpusOutcome) -> None:
    from rationalize.data.annotation import FORMATS

    echo(f"{done.rows} pre-annotated texts for {FORMATS[to].title}: {done.out}")
    for change, times in done.changes.items():
        echo(f"  {change}: {times}")


def _show(explanation: Explanation, *, as_json: bool) -> None:
    if as_json:
        echo_json(explanation.to_dict(), indent=None)
    else:
        make_console().print(explanation)
