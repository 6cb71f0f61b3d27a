"""What our choices buy, as ratios measured side by side in one run: `python -m benchmarks.speed [--encoder minilm]`."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch

from rationalize.config import EncoderConfig, RunConfig
from rationalize.data.planted import make_corpus
from rationalize.models import decoding
from rationalize.models.masking import pool_masked, read_masked
from rationalize.runs.build import build_untrained
from rationalize.runs.model_folder import Model
from rationalize.runs.settings import resolve_config
from rationalize.runs.training_data import TrainingData, split_training_data, to_rows
from rationalize.seeding import generator_for
from rationalize.text.batch import Batch, InputRow, collate, cut_batches
from rationalize.training.optim import Players


def median_seconds(actions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median time of each action; the actions take turns, so that a busy moment hits them all."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def build(config: RunConfig, data: TrainingData) -> tuple[Model, list[InputRow]]:
    """An untrained model and its training rows."""
    model = build_untrained(config, data)
    encoded = [model.engine().text.encode(example, truncate=True) for example in data.train]
    return model, to_rows(encoded, data)["all"]


def settings(method: str, encoder: str, **encoder_settings: float) -> RunConfig:
    """A resolved config."""
    chosen = EncoderConfig.model_validate({"name": encoder, "max_tokens": 256, **encoder_settings})
    return resolve_config(RunConfig(method=method, encoder=chosen))


def training_step(model: Model, config: RunConfig, batch: Batch) -> Callable[[], None]:
    """One optimizer step of the method's first turn."""
    players = Players(model.method, config.training)
    turn = model.method.phases()[0].turns[0]
    generator = generator_for(0, "bench")

    def step() -> None:
        model.method.train()
        sum(turn.loss(batch, generator).values(), torch.zeros(())).backward()
        players.step(turn.moves, 1.0)

    return step


def two_passes(model: Model, config: RunConfig, batch: Batch) -> Callable[[], None]:
    """The supervised step with one encoder pass per head, as the paper's released code does it."""
    from rationalize.models.losses import select_cross_entropy, task_cross_entropy

    players = Players(model.method, config.training)
    net = model.method.net

    def step() -> None:
        model.method.train()
        full = torch.ones_like(batch.selectable)
        task = task_cross_entropy(net.predict(batch, full), batch.labels)
        (task + select_cross_entropy(net.select(batch), batch.gold, batch.selectable)).backward()
        players.step(("model",), 1.0)

    return step


def reads(
    read: Callable[..., object], model: Model, batch: Batch, mask: torch.Tensor
) -> Callable[[], object]:
    """The predictor's pass over what a mask shows."""
    encoder = model.method.net.encoder.eval()

    def action() -> object:
        with torch.inference_mode():
            return read(encoder, batch, mask, "attention")

    return action


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", default="tiny")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    corpus = make_corpus(seed=0, sizes={"train": 320, "dev": 16})
    config = settings("sup_rat", arguments.encoder)
    data = split_training_data(config, corpus)
    model, rows = build(config, data)
    batch = collate(rows[:16], 0)
    ratio(
        "supervised step: two encoder passes / one shared pass",
        {"base": two_passes(model, config, batch), "ours": training_step(model, config, batch)},
        arguments.rounds,
    )
    dropped, _ = build(settings("sup_rat", arguments.encoder, attention_dropout=0.1), data)
    ratio(
        "supervised step: attention dropout 0.1 / 0 (fused attention)",
        {"base": training_step(dropped, config, batch), "ours": training_step(model, config, batch)},
        arguments.rounds,
    )
    fifth = decoding.topk(torch.rand(batch.input_ids.shape), batch.selectable, 0.2)
    ratio(
        "reading a rationale of 20 % (attention masking): all pieces / shown pieces",
        {"base": reads(read_masked, model, batch, fifth), "ours": reads(pool_masked, model, batch, fifth)},
        arguments.rounds,
    )
    in_order = [list(range(start, min(start + 32, len(rows)))) for start in range(0, len(rows), 32)]
    by_length = cut_batches([len(row.window) for row in rows], 32)

    @torch.no_grad()
    def explain(batches: list[list[int]]) -> None:
        for indexes in batches:
            model.method.eval().explain(collate([rows[index] for index in indexes], 0))

    ratio(
        "explaining: batches in file order / batches by length",
        {"base": lambda: explain(in_order), "ours": lambda: explain(by_length)},
        max(3, arguments.rounds // 2),
    )


def ratio(title: str, actions: dict[str, Callable[[], object]], rounds: int) -> None:
    """Print how many times longer the base takes."""
    seconds = median_seconds(actions, rounds)
    print(
        f"{title}: {seconds['base'] / seconds['ours']:.2f}x ({seconds['base']:.3f} s / {seconds['ours']:.3f} s)"
    )


if __name__ == "__main__":
    main()
