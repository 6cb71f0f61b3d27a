"""A whole short training of Semi-RAT beside one with the real Hugging Face `Trainer`, each in a process of its own."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.speed.answer import Answer, Row
from benchmarks.speed.clock import Action, Timing, time_once
from benchmarks.speed.corpora import load_corpus
from benchmarks.speed.machine import peak_megabytes

MAX_TOKENS = 128
COLUMNS = {
    "ratio": "processor time of Trainer",
    "memory_ratio": "memory of Trainer",
    "cpu_ms": "processor ms per example and epoch",
    "wall_ms": "wall ms per example and epoch",
    "megabytes": "peak MB",
}
HF = "Hugging Face Trainer, its defaults"


@dataclass(frozen=True)
class Job:
    """A short training.

    Attributes:
        encoder: The encoder's name.
        data: Folder of the archives; None: the planted stand-in.
        n: Training examples.
        layers: Layers that a selection ends at; None: all.
    """

    encoder: str
    data: Path | None
    n: int
    layers: int | None = None


def time_increment(make: Callable[[int], Action], n: int) -> Timing:
    """Return what n examples cost beyond n / 4 of them: what starting and saving cost is in both, and left out."""
    few, many = time_once(make(n // 4)), time_once(make(n))
    scale = n / (n - n // 4)
    return Timing(
        *(((many_s[0] - few_s[0]) * scale,) for many_s, few_s in ((many.wall, few.wall), (many.cpu, few.cpu)))
    )


def train_plainly(job: Job) -> tuple[Timing, float]:
    """Fine-tune a classifier by `Trainer` with default arguments, for one epoch."""
    import torch
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
    )

    from rationalize.models.tokenizer import find_source

    torch.set_num_threads(1)
    source = find_source(job.encoder)
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = AutoModelForSequenceClassification.from_pretrained(source, num_labels=2)
    examples = load_corpus("tweets", job.data, job.n, "train").examples
    labels = sorted({str(each.label) for each in examples})
    rows: list[dict[str, Any]] = [
        {
            **tokenizer(each.text, truncation=True, max_length=MAX_TOKENS),
            "labels": labels.index(str(each.label)),
        }
        for each in examples
    ]
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, num_train_epochs=1, use_cpu=True, report_to=[], disable_tqdm=True, save_strategy="no"
        )

        def make(n: int) -> Action:
            collator = DataCollatorWithPadding(tokenizer)
            return Trainer(model=model, args=arguments, train_dataset=rows[:n], data_collator=collator).train

        return time_increment(make, job.n), peak_megabytes()


def train_semi(job: Job) -> tuple[Timing, float]:
    """Train Semi-RAT by the package for one epoch, dev scores and saving included."""
    import torch

    from rationalize.rationalizer import Rationalizer

    torch.set_num_threads(1)
    examples = load_corpus("tweets", job.data, job.n, "train").examples
    dev = load_corpus("tweets", job.data, job.n // 8, "dev").examples
    options = {"selection": {"layers": job.layers}} if job.layers else {}
    encoder: Any = {"name": job.encoder, "max_tokens": MAX_TOKENS}

    def make(n: int) -> Action:
        def fit() -> None:
            model = Rationalizer(
                "semi_rat",
                encoder,
                options=options,
                data={"gold_share": 0.25},
                training={"epochs": 1, "cache": "off"},
                device="cpu",
            )
            with tempfile.TemporaryDirectory() as folder:
                model.fit(
                    list(examples[:n]), dev=list(dev[: n // 8]), folder=Path(folder) / "run", quiet=True
                )

        return fit

    return time_increment(make, job.n), peak_megabytes()


def measure_trainings(encoder: str, data: Path | None, n: int, shallow: int) -> Answer:
    """Train each once, one after the other."""
    few = Job(encoder, data, n, shallow)
    jobs: dict[str, tuple[Callable[[Job], tuple[Timing, float]], Job]] = {
        HF: (train_plainly, Job(encoder, data, n)),
        "semi_rat, mix, all layers": (train_semi, Job(encoder, data, n)),
        f"semi_rat, mix, selection by {shallow} layers": (train_semi, few),
    }
    found: dict[str, tuple[Timing, float]] = {}
    for name, (train, job) in jobs.items():
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            found[name] = pool.apply(train, (job,))
    base, memory = found[HF]
    return Answer(
        question="training",
        title="A whole training of Semi-RAT beside plain fine-tuning: tweets",
        columns=COLUMNS,
        rows=tuple(
            Row(
                name,
                {
                    "ratio": timing.ratio_to(base),
                    "memory_ratio": used / memory,
                    "cpu_ms": 1000 * timing.median_cpu / n,
                    "wall_ms": 1000 * timing.median_wall / n,
                    "megabytes": used,
                },
                timing,
                extrapolated=True,
            )
            for name, (timing, used) in found.items()
        ),
        notes=(
            f"{n} texts for one epoch, less what a quarter of them cost (starting and saving are in both), each in a "
            "process of its own, once. A training of 8,000 texts and 3 epochs repeats this (extrapolated, hence *). "
            f"Semi-RAT has a quarter of the gold, its own defaults, and scores {n // 8} dev texts, which Trainer does "
            "not.",
        ),
        chart="ratio",
    )
