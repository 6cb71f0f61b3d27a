"""The training loop, shared by all methods: it runs phases of turns."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch

from rationalize.config import TrainingConfig
from rationalize.errors import TrainingError
from rationalize.files import json_line, write_text
from rationalize.interrupts import Deferred, defer_signals
from rationalize.methods.base import Losses, Method, Phase, Turn
from rationalize.methods.hooks import HearsEpochs
from rationalize.models.losses import read_numbers
from rationalize.seeding import derive_seed, generator_for
from rationalize.text.batch import Batch, InputRow, collate, shuffle_batches
from rationalize.training._checkpoint import Checkpoints, TrainState
from rationalize.training._compiling import compile_encoders
from rationalize.training._epoch_choice import EpochChoice, ScoredEpoch
from rationalize.training._window_choice import choose_window
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
        self.method = method.to(self.device)
        self.phases = method.phases() if phases is None else phases
        self.weights = method.weights() if weights is None else weights
        self.players = Players(method, config)
        self.checkpoints = Checkpoints(folder / "checkpoints", config.keep_checkpoints)
        self.epochs = method.pretrain_epochs + config.epochs
        self.state = TrainState()

    def run(self, *, resume: bool) -> TrainState:
        """Train to the end; with `resume`, from the newest checkpoint."""
        if resume:
            found = self.checkpoints.load_newest(self.method, self.players, self.display.message)
            if found is None and self.log.exists():
                self.display.message(
                    "found no intact checkpoint to resume from: training starts from the beginning"
                )
            self.state = found or self.state
            self.state.finished = self.state.finished and self._is_over()  # epochs may have been added
        self._trim_log()
        total = sum(len(self._plan_epoch(epoch)) for epoch in range(self.epochs))
        self.display.start(total, self.state.step)
        with defer_signals() as stopping, compile_encoders(self.method, wanted=self.config.compile):
            while not self.state.finished:
                self._run_epoch(total, stopping)
                stopping.interrupt(self._describe_saved())
        return self.state

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
        lengths = [len(choose_window(row, self.seed, epoch).window) for row in self.pools[phase.pool]]
        chosen = self.config
        batches = shuffle_batches(
            lengths, chosen.batch_size, chosen.batch_tokens, self.seed, phase.name, epoch
        )
        return batches[: math.ceil(chosen.epoch_share * len(batches))]

    def _select_phases(self, epoch: int) -> list[Phase]:
        when = "pretrain" if epoch < self.method.pretrain_epochs else "main"
        return [phase for phase in self.phases if phase.when == when]

    def _run_epoch(self, total: int, stopping: Deferred) -> None:
        state = self.state
        plan = self._plan_epoch(state.epoch)
        if state.position == 0 and isinstance(self.method, HearsEpochs):
            self.method.begin_epoch(state.epoch)
        self.method.train()
        for phase, indexes in plan[state.position :]:
            rows = [choose_window(self.pools[phase.pool][i], self.seed, state.epoch) for i in indexes]
            losses = self._run_batch(phase, collate(rows, self.pad_id).to(self.device), total)
            self._record_step(phase, losses)
            due = state.step % self.config.checkpoint_every == 0 and state.position < len(plan)
            stop = stopping.number is not None
            if due or stop:
                self.checkpoints.save(self.method, self.players, state)
            if stop:
                stopping.interrupt(self._describe_saved())
        self._close_epoch()

    def _run_batch(self, phase: Phase, batch: Batch, total: int) -> dict[str, float]:
        done = self.state.phase_steps.get(phase.name, 0)
        turns = phase.turns if phase.calendar == "each" else (phase.turns[done % len(phase.turns)],)
        factor = compute_rate_factor(self.state.step, total, self.config.warmup)
        losses: dict[str, float] = {}
        for turn in turns:
            prefix = f"{turn.name}." if len(phase.turns) > 1 else ""
            parts = self._run_turn(phase, turn, batch, factor)
            losses |= {f"{prefix}{name}": value for name, value in parts.items()}
        return losses

    def _run_turn(self, phase: Phase, turn: Turn, batch: Batch, factor: float) -> dict[str, float]:
        """Run one update. Dropout draws from torch's global generator, so that is also seeded by the step."""
        key = (phase.name, turn.name, self.state.step)
        size = self.config.micro_batch or len(batch)
        parts: list[tuple[Losses, dict[str, float]]] = []
        forked = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(forked), self.players.unfreeze_only(turn.moves) as moved:
            torch.manual_seed(derive_seed(self.seed, "dropout", *key))
            generator = generator_for(self.seed, "noise", *key)
            for start in range(0, len(batch), size):
                part = batch.rows(slice(start, start + size))
                losses = self.method(turn, part, generator)
                shares = self._compute_shares(losses, part, batch)
                weighted = sum(
                    (self.weights.get(name, 1.0) * shares[name] * loss for name, loss in losses.items()),
                    torch.zeros((), device=self.device),
                )
                weighted.backward()
                parts.append(({name: loss.detach() for name, loss in losses.items()}, shares))
            norm = torch.nn.utils.clip_grad_norm_(moved, self.config.clip_norm)
            # The one time that an update waits for the device: nothing that is not finite may reach the weights.
            *values, gradient = read_numbers([*(losses for losses, _ in parts), {"gradient": norm}])
            self._check_finite(phase, *values, gradient)
            self.players.step(turn.moves, factor, turn.rates())
        totals: dict[str, float] = {}
        for seen, (_, shares) in zip(values, parts, strict=True):
            for name, value in seen.items():
                totals[name] = totals.get(name, 0.0) + shares[name] * value
        return totals

    def _compute_shares(self, losses: Losses, part: Batch, batch: Batch) -> dict[str, float]:
        """Return how much of the batch's mean each loss part of a micro-batch is."""
        if len(part) == len(batch):
            return dict.fromkeys(losses, 1.0)
        rows, whole, own = len(part) / len(batch), self.method.counts(batch), self.method.counts(part)
        return {name: own[name] / whole[name] if whole.get(name) else rows for name in losses}

    def _check_finite(self, phase: Phase, *found: Mapping[str, float]) -> None:
        """Stop before losses or gradients that are not finite reach the weights."""
        for values in found:
            if all(math.isfinite(value) for value in values.values()):
                continue
            seen = ", ".join(f"{name} {value:g}" for name, value in values.items())
            raise TrainingError(
                f"step {self.state.step + 1}, phase {phase.name}: losses or gradients are no longer finite ({seen}). "
                f"The checkpoints in {self.checkpoints.folder} are from earlier steps. "
                "Lower training.learning_rate; that usually helps."
            )

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
            self.checkpoints.save_best(self.method)
        means = {name: total / count for name, (total, count) in state.sums.items()}
        self._write_row({"step": state.step, "epoch": state.epoch, "losses": means, "dev": dev, "best": best})
        self.display.epoch(state.epoch, dev, best)
        state.epoch, state.position, state.sums = state.epoch + 1, 0, {}
        state.finished = self._is_over()
        if state.finished and state.epoch < self.epochs:
            self.display.message(f"stopped early: no better dev score for {state.standing.stale} epochs")
        self.checkpoints.save(self.method, self.players, state)

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
