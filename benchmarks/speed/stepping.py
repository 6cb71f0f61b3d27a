"""Training steps, beside the released pattern and a plain classifier's."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.speed.answer import Answer, Row
from benchmarks.speed.clock import Action, Timing, take_turns
from benchmarks.speed.corpora import Corpus
from benchmarks.speed.models import EncoderChoice, configure
from benchmarks.speed.released_pattern import ReleasedPattern
from rationalize.config import RunConfig
from rationalize.runs._training_rows import to_rows
from rationalize.runs.build import build_untrained
from rationalize.runs.training_data import make_training_data
from rationalize.text.batch import Batch, InputRow, collate, shuffle_batches
from rationalize.training.loop import Trainer
from rationalize.types import Example

RELEASED, RELEASED_GOLD = "released pattern", "released pattern, gold"
FLOOR = "plain classifier"
COLUMNS = {
    "speedup": "times as fast as the released pattern",
    "cpu_s": "processor s per step",
    "wall_s": "wall s per step",
    "spread": "spread",
}
MAX_TOKENS = 512  # as in the paper
BATCH = 4


class Silent:
    """Shows nothing."""

    def start(self, total_steps: int, resumed_at: int = 0) -> None:
        """Show nothing."""

    def step(self, phase: str, step: int, losses: Any) -> None:
        """Show nothing."""

    def epoch(self, epoch: int, dev: Any, best: bool) -> None:
        """Show nothing."""

    def message(self, text: str) -> None:
        """Show nothing."""


def make_trainer(config: RunConfig, examples: Sequence[Example]) -> tuple[Trainer, list[InputRow]]:
    """Return the package's own loop around an untrained model, and its rows."""
    data = make_training_data(config, examples, examples[:4])
    model = build_untrained(config, data)
    pools = to_rows(model.text.encode_all(data.train, truncate=True), data)
    trainer = Trainer(
        model.method.train(),
        pools,
        config.training,
        seed=0,
        pad_id=model.text.pad_id,
        folder=Path(tempfile.gettempdir()),
        evaluate=dict,
        score=lambda scores: None,
        display=Silent(),
    )
    return trainer, list(pools["all"])


def step_through(trainer: Trainer, batches: Sequence[Batch], phase: str | None = None) -> None:
    """Make one step of the loop with each batch, in a phase of that name or the first one."""
    chosen = next(each for each in trainer.phases if phase in (None, each.name))
    for batch in batches:
        trainer._run_batch(chosen, batch, 1000)


def collect_steps(corpus: Corpus, encoder: EncoderChoice, n_batches: int) -> dict[str, Action]:
    """Return the steps to time, by name; all read the same rows in the same batches."""
    few = min(encoder.shallow)
    deep, shallow = f"{encoder.depth} layers", f"selection by {few} of {encoder.depth} layers"

    def make(method: str, precision: str = "fp32", **selection: Any) -> tuple[Trainer, list[InputRow]]:
        options = {"selection": selection} if selection else {}
        sections = {"data": {"gold_share": 0.5}, "training": {"precision": precision}}
        config = configure(method, encoder.name, MAX_TOKENS, options=options, **sections)
        return make_trainer(config, corpus.examples)

    floor, rows = make("full_text")
    cut = shuffle_batches([len(row.window) for row in rows], BATCH, None, 0, "bench")[:n_batches]
    semi, semi_rows = make("semi_rat")
    batches = [collate([semi_rows[index] for index in each], floor.pad_id) for each in cut]
    hard = {"masking": "attention", "sampler": "gumbel_hard"}
    ours = {
        f"un_rat, mix, {deep}": make("un_rat", masking="mix")[0],
        f"un_rat, attention, {deep}": make("un_rat", **hard)[0],
        f"un_rat, mix, {shallow}": make("un_rat", masking="mix", layers=few)[0],
        f"un_rat, attention, {shallow}": make("un_rat", **hard, layers=few)[0],
        f"un_rat, mix, {deep}, bf16": make("un_rat", "bf16", masking="mix")[0],
        f"un_rat, mix, {shallow}, bf16": make("un_rat", "bf16", masking="mix", layers=few)[0],
        f"un_rat, attention, {shallow}, bf16": make("un_rat", "bf16", **hard, layers=few)[0],
    }
    found: dict[str, Action] = {name: partial(step_through, each, batches) for name, each in ours.items()}
    found[f"semi_rat on gold, {deep}"] = partial(step_through, semi, batches, "supervised")
    found[FLOOR] = partial(step_through, floor, batches)
    if encoder.name != "tiny":  # which has no weights to load
        released = ReleasedPattern.load(encoder.name, 2)

        def release(step: str) -> None:
            for batch in batches:
                getattr(released, step)(batch, MAX_TOKENS)

        found = {
            RELEASED: partial(release, "step"),
            RELEASED_GOLD: partial(release, "step_on_gold"),
            **found,
        }
    return found


def measure_steps(corpus: Corpus, encoder: EncoderChoice, n_batches: int, rounds: int) -> Answer:
    """Time training steps."""
    timings = take_turns(collect_steps(corpus, encoder, n_batches), rounds)
    base, gold = timings.get(RELEASED), timings.get(RELEASED_GOLD)
    return Answer(
        question=f"steps-{corpus.name.split()[0]}",
        title=f"Training steps: {corpus.name}",
        columns=COLUMNS,
        rows=tuple(
            _make_row(name, timing, gold if "gold" in name else base, n_batches)
            for name, timing in timings.items()
        ),
        notes=(
            f"{n_batches} batches of {BATCH} texts, at most {MAX_TOKENS} pieces, encoder {encoder.name}, {rounds} "
            "rounds, the package's own loop with optimizer.",
            "The released pattern is our transcription: two passes that are not fused and drop attention, rows padded "
            "to the full length, the plain AdamW, all in fp32. Supervised steps are compared with its supervised "
            "step; lines with bf16 set training.precision.",
        ),
        chart="speedup" if base else "cpu_s",
    )


def _make_row(name: str, timing: Timing, base: Timing | None, n: int) -> Row:
    numbers = {"cpu_s": timing.median_cpu / n, "wall_s": timing.median_wall / n, "spread": timing.spread}
    return Row(name, ({"speedup": base.ratio_to(timing)} if base else {}) | numbers, timing)
