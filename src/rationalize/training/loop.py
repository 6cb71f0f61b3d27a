"""The training loop, shared by all methods: it runs phases of turns."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from rationalize.config import TrainingConfig
from rationalize.files import json_line, write_text
from rationalize.flat_memory import GrowthWatch
from rationalize.interrupts import Deferred, defer_signals
from rationalize.methods.base import Method, Phase
from rationalize.methods.hooks import HearsEpochs
from rationalize.seeding import generator_for
from rationalize.text.batch import Batch, InputRow, collate, shuffle_batches
from rationalize.training._checkpoint import Checkpoints, TrainState
from rationalize.training._compiling import compile_encoders
from rationalize.training._epoch_choice import EpochChoice, ScoredEpoch
from rationalize.training._helper import prepare_method
from rationalize.training._updater import TurnPlace, Updater
from rationalize.training._window_choice import PoolLengths, choose_window
from rationalize.training.crew import Crew
from rationalize.training.optim import Players, compute_rate_factor

DevScores = Mapping[str, float]


class Display(Protocol):
    """Shows training progress to a person."""

    def start(self, total_steps: int, resumed_at: int = 0) -> None:
        """Show that training starts, or resumes at a step."""

    def step(self, phase: str, step: int, losses: Mapping[str, float]) -> None:
        """Show that a batch is done."""

    def epoch(self, epoch: int, dev: Mapping[str, float], best: bool) -> None:
        """Show that an epoch is done and scored."""

    def message(self, text: str) -> None:
        """Show a line of text."""


class Trainer:
    """Trains one method on its pools; can resume from a checkpoint."""

    def __init__(
        self,
        method: Method,
        pools: Mapping[str, Sequence[InputRow]],
        config: TrainingConfig,
        *,
        seed: int,
        pad_id: int,
        folder: Path,
        evaluate: Callable[[], DevScores],
        score: Callable[[DevScores], float | None],
        fits: Callable[[DevScores], bool] = lambda dev: True,
        display: Display,
        device: torch.device | str = "cpu",
        allowance: float | None = None,
        phases: Sequence[Phase] | None = None,
        weights: Mapping[str, float] | None = None,
        crew: Crew | None = None,
    ) -> None:
        self.config = config
        self.seed = seed
        self.pad_id = pad_id
        self.pools = pools
        self.evaluate = evaluate
        self.score = score
        self.fits = fits
        self.choice = EpochChoice(allowance, config.patience)
        self.display = display
        self.log = folder / "metrics.jsonl"
        self.device = torch.device(device)
        self.crew = crew or Crew()
        prepare_method(method, config, self.device, self.crew.group)
        self.method = method
        self.phases = tuple(method.phases() if phases is None else phases)
        self.players = Players(method, config)
        self.updater = Updater(
            method,
            self.players,
            config,
            phases=self.phases,
            weights=method.weights() if weights is None else weights,
            seed=seed,
            device=self.device,
            group=self.crew.group,
        )
        self.checkpoints = Checkpoints(folder / "checkpoints", config.keep_checkpoints)
        self.epochs = method.pretrain_epochs + config.epochs
        self.state = TrainState()
        self._lengths: dict[str, PoolLengths] = {}
        self._growth = GrowthWatch()

    def run(self, *, resume: bool) -> TrainState:
        """Train to the end; with `resume`, from the newest checkpoint."""
        if resume:
            found = self.checkpoints.load_newest(
                self.method, self.players, self.display.message, self._share_loaded
            )
            if found is None and self.log.exists():
                self.display.message(
                    "found no intact checkpoint to resume from: training starts from the beginning"
                )
            self.state = found or self.state
            self.state.finished = self.state.finished and self._is_over()  # epochs may have been added
        self._trim_log()
        total = sum(len(self._plan_epoch(epoch)) for epoch in range(self.epochs))
        self.display.start(total, self.state.step)
        compiled = compile_encoders(self.method, wanted=self.config.compile)
        # A launcher repeats a signal to all that it started; only the first one counts then.
        with compiled, defer_signals(once=self.crew.size > 1) as stopping:
            while not self.state.finished:
                self._run_epoch(total, stopping)
                stopping.interrupt(self._describe_saved())
        return self.state

    def _share_loaded(
        self, weights: dict[str, Tensor], optimizers: dict[str, Tensor], state: TrainState
    ) -> None:
        self.updater.scale.load_state(state.loss_scale)
        self.crew.share_state(weights, optimizers, state.loss_scale)

    def _describe_saved(self) -> str:
        return f"interrupted after step {self.state.step}; saved {self.checkpoints.name(self.state)}"

    def _plan_epoch(self, epoch: int) -> list[tuple[Phase, list[int]]]:
        """Return an epoch's batches in order: (phase, row indexes in its pool)."""
        plan = [
            (phase, batch)
            for phase in self._select_phases(epoch)
            for batch in self._make_batches(phase, epoch)
        ]
        if self.config.interleave:
            generator = generator_for(self.seed, "interleave", epoch)
            mixed = torch.randperm(len(plan), generator=generator, device="cpu")
            plan = [plan[index] for index in mixed.tolist()]
        return plan

    def _make_batches(self, phase: Phase, epoch: int) -> list[list[int]]:
        """Return a phase's batches in an epoch."""
        lengths = self._measure_pool(phase.pool).list_lengths(epoch)
        chosen = self.config
        batches = shuffle_batches(
            lengths, chosen.batch_size, chosen.batch_tokens, self.seed, phase.name, epoch
        )
        return batches[: math.ceil(chosen.epoch_share * len(batches))]

    def _measure_pool(self, pool: str) -> PoolLengths:
        """Return the lengths of a pool's rows, which are looked at once."""
        if pool not in self._lengths:
            self._lengths[pool] = PoolLengths(self.pools[pool], self.seed)
        return self._lengths[pool]

    def _select_phases(self, epoch: int) -> list[Phase]:
        when = "pretrain" if epoch < self.method.pretrain_epochs else "main"
        return [phase for phase in self.phases if phase.when == when]

    def _run_epoch(self, total: int, stopping: Deferred) -> None:
        state = self.state
        plan = self._plan_epoch(state.epoch)
        self.crew.begin_epoch(self.method, state.epoch, heard=state.position == 0)
        if state.position == 0 and isinstance(self.method, HearsEpochs):
            self.method.begin_epoch(state.epoch)
        self.method.train()
        for phase, indexes in plan[state.position :]:
            rows = [choose_window(self.pools[phase.pool][i], self.seed, state.epoch) for i in indexes]
            losses = self._run_batch(phase, collate(rows, self.pad_id), total)
            self._record_step(phase, losses)
            self._growth.look()
            due = state.step % self.config.checkpoint_every == 0 and state.position < len(plan)
            stop = stopping.number is not None
            if due or stop:
                self._save_checkpoint()
            if stop:
                stopping.interrupt(self._describe_saved())
        self._close_epoch()

    def _run_batch(self, phase: Phase, batch: Batch, total: int) -> dict[str, float]:
        done = self.state.phase_steps.get(phase.name, 0)
        n = len(phase.turns)
        turns = range(n) if phase.calendar == "each" else (done % n,)
        factor = compute_rate_factor(self.state.step, total, self.config.warmup)
        losses: dict[str, float] = {}
        for turn in turns:
            prefix = f"{phase.turns[turn].name}." if n > 1 else ""
            place = TurnPlace(self.phases.index(phase), turn, self.state.step, factor)
            parts = self.crew.run_turn(self.updater, place, batch)
            losses |= {f"{prefix}{name}": value for name, value in parts.items()}
        return losses

    def _record_step(self, phase: Phase, losses: dict[str, float]) -> None:
        state = self.state
        state.step += 1
        state.position += 1
        state.phase_steps[phase.name] = state.phase_steps.get(phase.name, 0) + 1
        for name, value in losses.items():
            entry = state.sums.setdefault(f"{phase.name}.{name}", [0.0, 0])
            entry[0] += value
            entry[1] += 1
        self.display.step(phase.name, state.step, losses)
        if state.step % self.config.log_every == 0:
            self._write_row({"step": state.step, "phase": phase.name, "losses": losses})

    def _close_epoch(self) -> None:
        """Score on dev, save the best weights, decide whether to stop, and write a checkpoint."""
        state = self.state
        self.method.eval()
        dev = dict(self.evaluate())
        scored = ScoredEpoch(
            state.epoch,
            self.score(dev),
            dev.get("task_f1", 0.0),
            counts=state.epoch >= self.method.pretrain_epochs,
            in_band=self.fits(dev),
        )
        state.standing, best = self.choice.judge(state.standing, scored)
        if best:
            self.crew.join_state(self.method, optimizers=False)
            self.checkpoints.save_best(self.method)
        means = {name: total / count for name, (total, count) in state.sums.items()}
        self._write_row({"step": state.step, "epoch": state.epoch, "losses": means, "dev": dev, "best": best})
        self.display.epoch(state.epoch, dev, best)
        state.epoch, state.position, state.sums = state.epoch + 1, 0, {}
        state.finished = self._is_over()
        if state.finished and state.epoch < self.epochs:
            self.display.message(f"stopped early: no better dev score for {state.standing.stale} epochs")
        self._save_checkpoint()

    def _save_checkpoint(self) -> None:
        self.state.loss_scale = self.updater.scale.to_state()
        self.crew.join_state(self.method, optimizers=True)
        self.checkpoints.save(self.method, self.players, self.state)

    def _is_over(self) -> bool:
        return self.state.epoch >= self.epochs or self.choice.is_out_of_patience(self.state.standing)

    def _write_row(self, row: dict[str, Any]) -> None:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json_line(row))
            file.flush()
            os.fsync(file.fileno())
        self.state.log_rows += 1

    def _trim_log(self) -> None:
        """Drop log rows that are newer than the checkpoint."""
        text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        write_text(self.log, "".join(text.splitlines(keepends=True)[: self.state.log_rows]))


def read_log(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a metrics.jsonl."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_epochs(folder: Path) -> list[dict[str, Any]]:
    """Read a run's log rows that close an epoch; none without a log."""
    log = folder / "metrics.jsonl"
    return [row for row in read_log(log) if "epoch" in row] if log.is_file() else []
