"""Semi-RAT beside the real Hugging Face `Trainer`: some steps of each, in turns, and what a whole training takes."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.speed.answer import Answer, Row
from benchmarks.speed.children import measure_alone
from benchmarks.speed.clock import Action, Timing, take_turns
from benchmarks.speed.corpora import Corpus, load_corpus
from benchmarks.speed.models import configure
from benchmarks.speed.stepping import make_trainer
from rationalize.inference.engine import Engine
from rationalize.runs.build import build_untrained
from rationalize.runs.training_data import make_training_data
from rationalize.text.batch import collate
from rationalize.training.loop import Trainer as OwnTrainer

MAX_TOKENS = 128
BATCH, OWN_BATCH = 8, 16
"""Trainer's default batch, and the package's."""
POOL = 512
"""Texts that batches are made of: as many as a loop sorts by length at once, twice."""
WHOLE, EPOCHS, DEV_SHARE = 8000, 3, 1 / 8
"""The training that is extrapolated to: texts, epochs, and dev texts scored after each of them, as a part of WHOLE."""
COLUMNS = {
    "ratio": "processor time of Trainer",
    "memory_ratio": "memory of Trainer",
    "cpu_ms": "processor ms per example and epoch",
    "wall_ms": "wall ms per example and epoch",
    "minutes": f"processor minutes of {WHOLE:,} × {EPOCHS} epochs",
    "megabytes": "peak MB",
}
HF = "Hugging Face Trainer, its defaults"


@dataclass(frozen=True)
class Job:
    """A short training.

    Attributes:
        encoder: The encoder's name.
        data: Folder of the archives; None: the planted stand-in.
        steps: Steps of BATCH examples.
        settings: Settings of ours by name: `layers` of the selection, `precision`, `batch_size`.
        ours: Whether it is ours.
    """

    encoder: str
    data: Path | None
    steps: int
    settings: tuple[tuple[str, Any], ...] = ()
    ours: bool = True

    @property
    def examples(self) -> int:
        """Examples that are read."""
        return self.steps * BATCH


def prepare_training(job: Job) -> Action:
    """Return the steps of a training, ours or that of Trainer."""
    corpus = load_corpus("tweets", job.data, POOL, "train")
    return prepare_ours(job, corpus) if job.ours else prepare_plain(job, corpus)


def prepare_plain(job: Job, corpus: Corpus) -> Action:
    """Return fine-tuning a classifier by `Trainer` with default arguments, from its start to its last step."""
    from accelerate.state import AcceleratorState
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
    )

    from rationalize.models.tokenizer import find_source

    source = find_source(job.encoder)
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = AutoModelForSequenceClassification.from_pretrained(source, num_labels=2)
    labels = sorted({str(each.label) for each in corpus.examples})
    rows: list[dict[str, Any]] = [
        {
            **tokenizer(each.text, truncation=True, max_length=MAX_TOKENS),
            "labels": labels.index(str(each.label)),
        }
        for each in corpus.examples
    ]
    arguments = TrainingArguments(
        tempfile.mkdtemp(),
        max_steps=job.steps,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
        save_strategy="no",
        bf16=dict(job.settings).get("precision") == "bf16",
    )

    def train() -> None:
        AcceleratorState._reset_state(reset_partial_state=True)  # it keeps the precision of the first Trainer
        collator = DataCollatorWithPadding(tokenizer)
        Trainer(model=model, args=arguments, train_dataset=rows, data_collator=collator).train()

    return train


def prepare_ours(job: Job, corpus: Corpus) -> Action:
    """Return as many examples of a Semi-RAT epoch, supervised and unsupervised ones as in the whole."""
    settings: dict[str, Any] = {
        "layers": None,
        "precision": "fp32",
        "batch_size": BATCH,
        **dict(job.settings),
    }
    config = configure(
        "semi_rat",
        job.encoder,
        MAX_TOKENS,
        options={"selection": {"layers": settings.pop("layers")}},
        data={"gold_share": 0.25},
        training=settings,
    )
    trainer, _ = make_trainer(config, corpus.examples)
    return partial(train_part, trainer, job.examples)


def train_part(trainer: OwnTrainer, examples: int) -> None:
    """Make the first steps of every phase, in all over about so many examples."""
    plan = trainer._plan_epoch(0)
    part = examples / sum(len(indexes) for _, indexes in plan)
    for phase in trainer.phases:
        batches = [indexes for each, indexes in plan if each.name == phase.name]
        for indexes in batches[: math.ceil(part * len(batches))]:
            rows = [trainer.pools[phase.pool][index] for index in indexes]
            trainer._run_batch(phase, collate(rows, trainer.pad_id), 1000)


def prepare_scoring(encoder: str, corpus: Corpus) -> Callable[[], object]:
    """Return what scoring dev costs after an epoch: explanations of the texts."""
    config = configure("semi_rat", encoder, MAX_TOKENS)
    model = build_untrained(config, make_training_data(config, corpus.examples, corpus.examples[:4]))
    engine: Engine = model.engine()
    return lambda: list(engine.explain(corpus.examples))


def add_scoring(steps: Timing, examples: int, scoring: Timing, texts: int) -> Timing:
    """Return seconds per example and epoch: steps, and the part of dev that belongs to an example."""

    def add(own: tuple[float, ...], dev: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(a / examples + DEV_SHARE * b / texts for a, b in zip(own, dev, strict=True))

    return Timing(add(steps.wall, scoring.wall), add(steps.cpu, scoring.cpu))


def list_jobs(encoder: str, data: Path | None, steps: int, shallow: int) -> dict[str, Job]:
    """Return what is measured, by name."""
    half = ("precision", "bf16")
    few = f"selection by {shallow} layers"
    return {
        HF: Job(encoder, data, steps, ours=False),
        f"{HF}, bf16": Job(encoder, data, steps, (half,), ours=False),
        "semi_rat, mix, all layers": Job(encoder, data, steps),
        f"semi_rat, mix, {few}": Job(encoder, data, steps, (("layers", shallow),)),
        "semi_rat, mix, all layers, bf16": Job(encoder, data, steps, (half,)),
        f"semi_rat, mix, all layers, batches of {OWN_BATCH}": Job(
            encoder, data, steps, (("batch_size", OWN_BATCH),)
        ),
    }


def measure_trainings(encoder: str, data: Path | None, steps: int, rounds: int, shallow: int) -> Answer:
    """Time steps that take turns; then each has a process of its own, for its memory."""
    jobs = list_jobs(encoder, data, steps, shallow)
    texts = load_corpus("tweets", data, steps * BATCH // 2, "dev")
    actions = {name: prepare_training(job) for name, job in jobs.items()}
    scoring = "scoring dev"
    found = take_turns({**actions, scoring: prepare_scoring(encoder, texts)}, rounds)
    per_example = {}
    for name, job in jobs.items():
        dev = found[scoring] if job.ours else Timing(*((0.0,) * rounds,) * 2)
        per_example[name] = add_scoring(found[name], job.examples, dev, len(texts.examples))
    used = {name: measure_alone(prepare_training, job).peak for name, job in jobs.items()}
    return Answer(
        question="training",
        title="Training Semi-RAT beside plain fine-tuning: tweets",
        columns=COLUMNS,
        rows=tuple(
            Row(
                name,
                {
                    "ratio": timing.ratio_to(per_example[HF]),
                    "memory_ratio": used[name] / used[HF],
                    "cpu_ms": 1000 * timing.median_cpu,
                    "wall_ms": 1000 * timing.median_wall,
                    "minutes": timing.median_cpu * WHOLE * EPOCHS / 60,
                    "megabytes": used[name],
                },
                timing,
                extrapolated=True,
            )
            for name, timing in per_example.items()
        ),
        notes=(
            f"{steps} steps of {BATCH} texts, {rounds} rounds; a whole training repeats them (extrapolated, hence *). "
            "Memory is the peak of a process that does nothing else.",
            f"Semi-RAT has a quarter of the gold. Scoring {WHOLE * DEV_SHARE:,.0f} dev texts after every epoch is "
            "added to it, which Trainer does not do. Lines with bf16 are compared with Trainer in fp32, too.",
        ),
        chart="ratio",
    )
