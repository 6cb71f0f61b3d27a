"""Plans for more than this machine can do, extrapolated from what was measured; every line says from what, and how."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

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
STEP_PASSES = 2
STEP = re.compile(r"batches of (\d+) texts, at most (\d+) pieces")
"""How the note of an answer says what a step read."""
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
        "An encoder of 7 billion weights": plan_large(speed),
    }
    put_between(page, START, END, "\n\n".join(_write_plan(title, lines) for title, lines in plans.items()))


def plan_corpus(answers: Mapping[str, Answer], speed: Mapping[str, Answer]) -> Iterator[Line]:
    """Plan explaining, auditing and checking a corpus."""
    if explain := answers.get("explain"):
        yield from _plan_explaining(explain, speed)
    for question, what in (("audit", "Audit"), ("check", "Check")):
        if answer := answers.get(question):
            last = _find_last(answer)
            # An exponent below 1 is the start of small runs, of which nothing is left to save beyond those measured.
            exponent = max(1.0, last.numbers.get("exponent", 1.0))
            seconds = _grow(last, "wall_s", exponent)
            source = f"{last.name}: {last.numbers['wall_s']:.0f} s × ({DOCUMENTS:,} / size) ^ {exponent:.2f}"
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
        f"the same / ({NODES} nodes × {CORES_PER_NODE} cores), a command on each node for its part of the shards, "
        "which share nothing but the model; one command that feeds all nodes (`--on ray`) was not measured",
    )
    written = last.numbers["disk_mb"] / last.numbers["size"] * DOCUMENTS / 1024
    yield Line(
        "Storage of explanations", f"{written:,.0f} GB", f"{last.name}: {last.numbers['disk_mb']:,.0f} MB"
    )
    seconds = written * 2**30 / 1e9 / (NODES * NETWORK_GB_S)
    yield Line(
        "Network, if the store is elsewhere",
        f"{written:,.0f} GB out, {seconds:,.0f} seconds",
        f"the same at {NETWORK_GB_S} GB/s and node, assumed; the texts on the way in are less",
    )


def plan_comparison(speed: Mapping[str, Answer]) -> Iterator[Line]:
    """Plan a comparison of everything."""
    from rationalize.methods.registry import list_names

    if (rate := _find_rate(speed)) is None:
        return
    names = list_names()
    yield Line(
        "A core at training", f"{rate.per_second / 1e9:.0f} billion operations per second", rate.source
    )
    cells, passes = len(names) * DATA_SETS * SEEDS, _count_passes(names)
    each = _count_training(BERT_BASE, passes)
    yield Line(
        "A cell on a core",
        f"{each / rate.per_second / 3600:,.0f} hours",
        f"{_describe_training(passes)}, at the rate above, bert-base having {BERT_BASE / MINILM:.0f} times minilm's "
        "weights",
    )
    yield Line(
        f"All {cells} cells on {GPUS} GPUs",
        f"{cells * each / GPU_FLOPS / GPUS / 3600:,.0f} hours",
        f"the same operations at {GPU_FLOPS / 1e12:.0f} trillion per second and GPU, assumed, none was at hand; cells "
        "share nothing but artifacts",
    )


def plan_large(speed: Mapping[str, Answer]) -> Iterator[Line]:
    """Plan an encoder that does not fit one GPU."""
    from rationalize.methods.registry import list_names

    yield Line(
        "Memory of training, over all GPUs",
        f"{LARGE * 16 / 2**30:.0f} GB",
        "7 billion × 16 bytes: weights, gradients and two moments in single precision, cut by "
        "`training.sharding: fsdp`; activations on top, few with `gradient_checkpointing`; by construction",
    )
    yield Line(
        "Memory of explaining",
        f"{LARGE * 4 / 2**30:.0f} GB",
        "7 billion × 4 bytes: weights stay in single precision; with `bf16` up to 2 bytes more for each, rounded; by "
        "construction",
    )
    if "explain-short" in speed:
        answer = speed["explain-short"]
        each = answer.find("explain, 6 of 6 layers").numbers["cpu_ms"] / 1e3
        yield Line(
            "A million texts explained on cores",
            f"{each * LARGE / MINILM * 1e6 / 3600:,.0f} hours of a core",
            f"performance, {answer.title}: {1e3 * each:.1f} ms with `minilm`, × {LARGE / MINILM:.0f} for the weights",
        )
    pieces = 1.4 * WORDS
    seconds = 2 * LARGE * pieces * (1 + SHOWN) * 1e6 / GPU_FLOPS_LARGE
    yield Line(
        "… on a GPU",
        f"{seconds / 3600:.1f} hours",
        f"{WORDS} words × 1.4 pieces × (1 + {SHOWN}) passes × 2 operations per weight, at {GPU_FLOPS_LARGE / 1e12:.0f} "
        "trillion per second, assumed",
    )
    passes = _count_passes(list_names())
    work = _count_training(LARGE, passes)
    if (rate := _find_rate(speed)) is not None:
        yield Line(
            "A training on cores",
            f"{work / rate.per_second / 3600:,.0f} hours of a core",
            f"{_describe_training(passes)}, at the rate of a core at training, above",
        )
    yield Line(
        f"… on {GPUS} GPUs",
        f"{work / GPU_FLOPS_LARGE / GPUS / 3600:,.1f} hours",
        f"the same operations at {GPU_FLOPS_LARGE / 1e12:.0f} trillion per second and GPU, assumed; a step of the "
        "stand-in with `fsdp` was tested on CPUs alone",
    )


@dataclass(frozen=True)
class Rate:
    """How fast a core trains.

    Attributes:
        per_second: Operations per second.
        source: The measurement, and what was done with it.
    """

    per_second: float
    source: str


def _find_rate(speed: Mapping[str, Answer]) -> Rate | None:
    """Return the rate of a core on texts that fill the length: shorter ones are not padded, and would flatter it."""
    answer = speed.get("steps-movies")
    read = next((found for note in answer.notes if (found := STEP.search(note))), None) if answer else None
    if answer is None or read is None:
        return None
    texts, pieces = (int(each) for each in read.groups())
    step = answer.find("un_rat, mix, 6 layers").numbers["cpu_s"]
    work = STEP_PASSES * 3 * 2 * MINILM * texts * pieces
    source = (
        f"performance, {answer.title}: un_rat, mix, 6 layers: {step:.2f} s per step of {texts} texts × {pieces} "
        f"pieces, {STEP_PASSES} passes, 3 × for gradients, 2 per weight and piece"
    )
    return Rate(work / step, source)


def _count_passes(names: Sequence[str]) -> float:
    """Return the mean over the methods of what a step reads in its most expensive phase."""
    from rationalize.methods.describing import collect_default_passes

    return mean(max(phase.passes for phase in collect_default_passes(name).train) for name in names)


def _count_training(weights: float, passes: float) -> float:
    """Return the operations of a training."""
    return passes * 3 * 2 * weights * TEXTS * PIECES * EPOCHS


def _describe_training(passes: float) -> str:
    return (
        f"{TEXTS:,} texts × {PIECES} pieces × {EPOCHS} epochs (assumed) × {passes:.1f} passes (the mean over methods, "
        "of the phase that reads most; a test counts them)"
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
