"""A whole short training of Semi-RAT beside one with the real Hugging Face `Trainer`, each in a process of its own."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.speed.answer import Answer, Row
from benchmarks.speed.clock import Timing, time_once
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
        trainer = Trainer(
            model=model,
            args=arguments,
            train_dataset=rows,
            data_collator=DataCollatorWithPadding(tokenizer),
        )
        return time_once(trainer.train), peak_megabytes()


def train_semi(job: Job) -> tuple[Timing, float]:
    """Train Semi-RAT by the package for one epoch, dev scores and saving included."""
    import torch

    from rationalize.rationalizer import Rationalizer

    torch.set_num_threads(1)
    corpus = load_corpus("tweets", job.data, job.n, "train")
    options = {"selection": {"layers": job.layers}} if job.layers else {}
    encoder: Any = {"name": job.encoder, "max_tokens": MAX_TOKENS}
    model = Rationalizer(
        "semi_rat",
        encoder,
        options=options,
        data={"gold_share": 0.25},
        training={"epochs": 1, "cache": "off"},
        device="cpu",
    )
    dev = load_corpus("tweets", job.data, job.n // 8, "dev").examples

    def fit() -> None:
        with tempfile.TemporaryDirectory() as folder:
            model.fit(list(corpus.examples), dev=list(dev), folder=Path(folder) / "run", quiet=True)

    return time_once(fit), peak_megabytes()


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
            f"{n} texts for one epoch, each training in a process of its own, once; a training of 8,000 texts and 3 "
            "epochs is the same work 3 × 8,000 times per example (extrapolated, hence *). Semi-RAT has a quarter of "
            f"the gold, its own defaults, and scores {n // 8} dev texts and saves the model, which Trainer does not.",
        ),
        chart="ratio",
    )
