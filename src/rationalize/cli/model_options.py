"""Options of the verbs that use trained models: explain, evaluate, serve, studio."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rationalize.cli.given_text import Errors
from rationalize.config import Precision
from rationalize.corpus.part_formats import PartFormat
from rationalize.format_names import ToolName

# what to explain
GivenText = Annotated[str | None, typer.Argument(help="The text; without it, standard input is read.")]
GivenQuery = Annotated[str | None, typer.Option(help="The question or claim about the text.")]
GivenFile = Annotated[
    str | None,
    typer.Option(
        help="Explain every row of a file, of a folder, pattern ('posts-*.jsonl') or address (s3:// …) of shards, "
        "every line of a .txt, or JSON Lines from -."
    ),
]
BadBytes = Annotated[
    Errors, typer.Option(help="Bytes that are not UTF-8, in texts and .txt files: an error, or �.")
]
BadRows = Annotated[
    Literal["skip", "refuse"],
    typer.Option(help="With --out: rows that cannot be read go to OUT's .errors.jsonl, or end it."),
]

# how to explain
MinConfidence = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NUMBER or LABEL=NUMBER",
        help="Answer abstain where the label is less sure than this; repeatable, one for each label.",
    ),
]
BatchTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Word pieces read at once; 2,048 on a CPU and 16,384 elsewhere if not given."),
]
InPrecision = Annotated[
    Precision,
    typer.Option(
        help="Of matrix products inside encoders; bf16 is faster where the machine can, and rounds."
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        min=1, help="With --out: processes that explain and share one copy of the weights; with --on, actors."
    ),
]

# where explanations go
ExplainedOut = Annotated[
    str | None,
    typer.Option(
        help="With --file: write here, to a .jsonl, .csv or .parquet; a name without an ending is "
        "that of a folder of parts, which may be in a store (s3://…, gs://…, hf://…)."
    ),
]
FormatOfParts = Annotated[
    PartFormat | None, typer.Option(help="Format of the parts of a folder; jsonl if not given.")
]
ResumeParts = Annotated[bool, typer.Option("--resume", help="With --out: go on where it stopped.")]
ToTool = Annotated[
    ToolName | None, typer.Option(help="With --out: write pre-annotations that this annotation tool imports.")
]

# what to score
LabeledData = Annotated[str, typer.Option(help="A folder, archive or file with labeled examples.")]
WhichSplit = Annotated[str, typer.Option(help="Which split.")]
SampleSize = Annotated[int | None, typer.Option(min=1, help="Score a stratified sample of this size.")]
LabelMap = Annotated[
    list[str] | None,
    typer.Option(metavar="DATA=MODEL", help="The data's label for a class of the model; repeatable."),
]
Faithfulness = Annotated[
    Literal["drop", "mask"] | None,
    typer.Option(
        help="Also measure comprehensiveness and sufficiency, by deleting or masking words. Costs as much as "
        "explaining each example twelve times."
    ),
]
OracleLabel = Annotated[
    bool, typer.Option(help="Give the selector the gold label (car): published practice, but not fair.")
]
WantedPrecision = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Also find, for each label, the --min-confidence from which on it is so often right.",
    ),
]

# where scores go
ResultsOut = Annotated[Path | None, typer.Option(help="Also write the results here, as JSON.")]
PredictionsOut = Annotated[Path | None, typer.Option(help="Also write every explanation here, JSON Lines.")]
EraserOut = Annotated[
    Path | None, typer.Option(help="Also write ERASER's result format here, for its official scorer.")
]
ReportOut = Annotated[
    Path | None, typer.Option(help="Also write a page here: numbers, training, examples, worst mistakes.")
]

# what to serve
ServedModels = Annotated[
    list[str],
    typer.Argument(metavar="MODEL...", help="A model or run folder, or NAME=FOLDER; one or more."),
]
ServedKey = Annotated[
    Path | None,
    typer.Option(help="File with the API key; else RATIONALIZE_API_KEY, else no key is needed."),
]
ServedHost = Annotated[
    list[str] | None,
    typer.Option(help="Without a key: another host name that callers may use; repeatable."),
]
ServedWorkers = Annotated[
    int,
    typer.Option(
        min=1,
        max=64,
        help="Processes that serve side by side, each with its own copy of every model, and with limits of its own.",
    ),
]
ServedLimit = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=NUMBER", help="A limit that /v1/models shows, for instance queue_texts=64."),
]
OnlyProblems = Annotated[bool, typer.Option(help="Log only problems.")]

# what to open in the studio
StudioData = Annotated[
    Path | None, typer.Argument(metavar="[DATA]", help="A folder, a .tar.gz or .zip, or a file.")
]
StudioModels = Annotated[
    list[str] | None, typer.Option(help="A model or run folder, or NAME=FOLDER; repeatable.")
]
StudioOut = Annotated[
    Path | None, typer.Option(help="Folder for everything made here; default studio/NAME of the data.")
]
StudioSplit = Annotated[
    str | None, typer.Option(help="Which split to annotate; default train, or the only one.")
]
StudioDemo = Annotated[
    bool, typer.Option("--demo", help="Open with the planted corpus, and train a small model on it.")
]
StudioStudy = Annotated[
    Path | None, typer.Option(help="A study of `rationalize rate prepare`, to be graded here, too.")
]
StudioExport = Annotated[
    Path | None, typer.Option(help="Open no page: write what is annotated to this JSON Lines file.")
]
StudioTool = Annotated[
    ToolName | None,
    typer.Option(help="With --export: write for this annotation tool instead (brat: a folder)."),
]
StudioKey = Annotated[
    Path | None,
    typer.Option(help="File with the key to the pages; else RATIONALIZE_API_KEY, else one is made."),
]
StudioHost = Annotated[
    list[str] | None,
    typer.Option(help="Another name that browsers may use for this machine; repeatable."),
]
StudioSeed = Annotated[int, typer.Option(help="Decides the random order of texts.")]
