"""Plans for more than this machine can do, extrapolated from what was measured; every line says from what, and how."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.answer import Answer, Row, read_answer
from benchmarks.speed.page import put_between

START, END = "<!-- extrapolated by make bench-scale -->", "<!-- end of what was extrapolated -->"
SPEED = Path(__file__).parents[1] / "speed" / "answers"

DOCUMENTS = 100_000_000
CORES_PER_NODE, NODES = 32, 10
NETWORK_GB_S = 1.25  # 10 Gbit/s of a node
WORDS, LEVELS, ROW_COLUMNS = (
    25,
    8,
    6,
)  # of a text here; lengths of phrases; columns of a word on disk, 4 bytes each

DATA_SETS, SEEDS, GPUS, EPOCHS, TEXTS, PIECES = 5, 5, 8, 10, 20_000, 256
MINILM, BERT_BASE, LARGE = 10.6e6, 85.1e6, 7e9
"""Weights of the layers, embeddings left out: what a piece is multiplied with."""
STEP_TEXTS, STEP_PASSES, MEAN_PASSES = 8, 2, 3
GPU_FLOPS, GPU_FLOPS_LARGE = 4e13, 1.5e14
"""Operations per second that a GPU sustains, assumed: small matrices keep it less busy."""
SHOWN = 0.2
"""Share of the pieces that a rationale shows."""


@dataclass(frozen=True)
class Line:
    """A line of a plan.

    Attributes:
        what: What it is about.
        figure: What comes out.
        source: The measurement, and what was done with it.
    """

    what: str
    figure: str
    source: str


def write_plans(answers: Mapping[str, Answer], page: Path) -> None:
    """Put the plans between their marks of the page."""
    speed = {path.stem: read_answer(path)[0] for path in sorted(SPEED.glob("*.json"))}
    plans = {
        f"{DOCUMENTS:,} documents on {NODES} nodes of {CORES_PER_NODE} cores": plan_corpus(answers, speed),
        f"All methods × {DATA_SETS} data sets × {SEEDS} seeds, bert-base, {GPUS} GPUs": plan_comparison(
            speed
        ),
        "An encoder of 7 billion weights": plan_large(),
    }
    put_between(page, START, END, "\n\n".join(_write_plan(title, lines) for title, lines in plans.items()))


def plan_corpus(answers: Mapping[str, Answer], speed: Mapping[str, Answer]) -> Iterator[Line]:
    """Plan explaining, auditing and checking a corpus."""
    if explain := answers.get("explain"):
        yield from _plan_explaining(explain, speed)
    for question, what in (("audit", "Audit"), ("check", "Check")):
        if answer := answers.get(question):
            last = _find_last(answer)
            seconds = _grow(last, "wall_s", last.numbers.get("exponent", 1.0))
            source = f"{last.name}: {last.numbers['wall_s']:.0f} s × ({DOCUMENTS:,} / size) ^ exponent"
            yield Line(f"{what} on one machine of two cores", f"{seconds / 3600:.1f} hours", source)
            steps = math.log10(DOCUMENTS / last.numbers["size"])
            memory = last.numbers["peak_mb"] * _find_ratio_per_decade(answer) ** steps
            yield Line(
                f"{what}, peak memory",
                f"{memory / 1024:.1f} GB",
                f"{last.name}: {last.numbers['peak_mb']:.0f} MB, growing on as between the sizes measured",
            )
    disk = DOCUMENTS * WORDS * 4 * (ROW_COLUMNS + LEVELS) / 1e9
    yield Line(
        "Audit, temporary disk",
        f"{disk:,.0f} GB and the texts once more",
        f"{WORDS} words × 4 bytes × ({ROW_COLUMNS} columns + {LEVELS} lengths of phrases), by construction",
    )


def _plan_explaining(explain: Answer, speed: Mapping[str, Answer]) -> Iterator[Line]:
    last = _find_last(explain, "1 worker")
    own = last.numbers["cpu_s"] / last.numbers["size"]
    source = f"{last.name}: {1e3 * own:.2f} ms of processor per text with `tiny`"
    if "explain-short" in speed:
        encoder = speed["explain-short"].find("explain, 6 of 6 layers").numbers["cpu_ms"] / 1e3
        own += encoder
        source += f" + {1e3 * encoder:.1f} ms with `minilm` (performance, {speed['explain-short'].title})"
    two = next((row for row in explain.rows if "2 workers" in row.name), None)
    gain = 1.0
    if two is not None:
        one = explain.find(two.name.replace("2 workers", "1 worker"))
        gain = min(1.0, one.numbers["wall_s"] / two.numbers["wall_s"] / 2)
        source += f"; each of two workers does {gain:.0%} of one alone"
    hours = DOCUMENTS * own / gain / 3600
    yield Line("Explain with minilm", f"{hours:,.0f} hours of a core", source)
    yield Line(
        "on the cluster",
        f"{hours / (NODES * CORES_PER_NODE):,.1f} hours",
        f"the same / ({NODES} nodes × {CORES_PER_NODE} cores); shards share nothing but the model",
    )
    written = last.numbers["disk_mb"] / last.numbers["size"] * DOCUMENTS / 1024
    yield Line(
        "Storage of explanations", f"{written:,.0f} GB", f"{last.name}: {last.numbers['disk_mb']:,.0f} MB"
    )
    minutes = written / (NODES * NETWORK_GB_S) / 60
    yield Line(
        "Network, if the store is elsewhere",
        f"{written:,.0f} GB out, {minutes:,.0f} minutes",
        f"the same at {NETWORK_GB_S} GB/s and node, assumed; the texts on the way in are less",
    )


def plan_comparison(speed: Mapping[str, Answer]) -> Iterator[Line]:
    """Plan a comparison of everything."""
    from rationalize.methods.registry import list_names

    if "steps-fever" not in speed:
        return
    step = speed["steps-fever"].find("un_rat, mix, 6 layers").numbers["cpu_s"]
    work = STEP_PASSES * 3 * 2 * MINILM * STEP_TEXTS * PIECES
    yield Line(
        "A core at training",
        f"{work / step / 1e9:.0f} billion operations per second",
        f"performance, un_rat on FEVER: {step:.2f} s per step of {STEP_TEXTS} texts × {PIECES} pieces, {STEP_PASSES} "
        "passes, 3 × for gradients, 2 per weight and piece",
    )
    cells = len(list_names()) * DATA_SETS * SEEDS
    each = MEAN_PASSES * 3 * 2 * BERT_BASE * TEXTS * PIECES * EPOCHS
    yield Line(
        "A cell on a core",
        f"{each / (work / step) / 3600:,.0f} hours",
        f"{TEXTS:,} texts × {PIECES} pieces × {EPOCHS} epochs × {MEAN_PASSES} passes (assumed), at the rate above, "
        f"bert-base having {BERT_BASE / MINILM:.0f} times minilm's weights",
    )
    hours = cells * each / GPU_FLOPS / 3600
    yield Line(
        f"All {cells} cells on {GPUS} GPUs",
        f"{hours / GPUS:,.0f} hours",
        f"the same operations at {GPU_FLOPS / 1e12:.0f} trillion per second and GPU, assumed, none was at hand; cells "
        "share nothing but artifacts",
    )


def plan_large() -> Iterator[Line]:
    """Plan an encoder that does not fit one GPU."""
    yield Line(
        "Memory of training, over all GPUs",
        f"{LARGE * 16 / 2**30:.0f} GB",
        "7 billion × 16 bytes: weights, gradients and two moments in single precision, cut by "
        "`training.sharding: fsdp`; activations on top, few with `gradient_checkpointing`",
    )
    yield Line(
        "Memory of explaining, bf16",
        f"{LARGE * 2 / 2**30:.0f} GB",
        "7 billion × 2 bytes",
    )
    pieces = 1.4 * WORDS
    seconds = 2 * LARGE * pieces * (1 + SHOWN) * 1e6 / GPU_FLOPS_LARGE
    yield Line(
        "A million texts explained",
        f"{seconds / 3600:.1f} hours of a GPU",
        f"{WORDS} words × 1.4 pieces × (1 + {SHOWN}) passes × 2 operations per weight, at {GPU_FLOPS_LARGE / 1e12:.0f} "
        "trillion per second, assumed",
    )
    work = MEAN_PASSES * 3 * 2 * LARGE * TEXTS * PIECES * EPOCHS
    yield Line(
        f"A training on {GPUS} GPUs",
        f"{work / GPU_FLOPS_LARGE / GPUS / 3600:,.1f} hours",
        f"{TEXTS:,} texts × {PIECES} pieces × {EPOCHS} epochs × {MEAN_PASSES} passes, as above; a step of the stand-in "
        "with `fsdp` was tested on CPUs alone",
    )


def _find_last(answer: Answer, kind: str = "") -> Row:
    """Return the row of the largest size."""
    return max((row for row in answer.rows if kind in row.name), key=lambda row: row.numbers["size"])


def _grow(row: Row, column: str, exponent: float) -> float:
    return row.numbers[column] * (DOCUMENTS / row.numbers["size"]) ** exponent


def _find_ratio_per_decade(answer: Answer) -> float:
    """Return how many times the memory is that ten times the size needs."""
    rows = sorted(answer.rows, key=lambda row: row.numbers["size"])
    decades = math.log10(rows[-1].numbers["size"] / rows[0].numbers["size"])
    return (rows[-1].numbers["peak_mb"] / rows[0].numbers["peak_mb"]) ** (1 / decades) if decades else 1.0


def _write_plan(title: str, lines: Iterator[Line]) -> str:
    rows = [f"| {line.what} | {line.figure} | {line.source} |" for line in lines]
    return "\n".join([f"### {title}", "", "| | figure | from |", "| --- | ---: | --- |", *rows])
