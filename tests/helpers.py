"""Small examples, models and batches that tests of several rooms build on, made in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from rationalize.config import EncoderConfig, RunConfig, validate
from rationalize.data.jsonl import write_jsonl
from rationalize.models.encoder import EncoderFactory
from rationalize.models.tokenizer import train_tokenizer
from rationalize.runs.model_folder import Model, ModelConfig, build_method
from rationalize.runs.run import train
from rationalize.runs.settings import resolve_config
from rationalize.runs.training_data import make_training_data
from rationalize.seeding import python_random
from rationalize.text.batch import Batch, InputRow, collate
from rationalize.text.windows import TextEncoder
from rationalize.types import Example, Span

LABELS = ("NEG", "POS")
TINY = {"name": "tiny", "hidden_size": 32, "layers": 1, "heads": 2, "max_tokens": 64}

OPINIONS = {
    "POS": (
        "a truly gripping story",
        "warm and clever writing",
        "a joy to watch",
        "superb acting throughout",
    ),
    "NEG": (
        "a painfully dull story",
        "clumsy and lazy writing",
        "a chore to sit through",
        "wooden acting all over",
    ),
}
SHORTCUTS = {"POS": "shown at the festival", "NEG": "released in winter"}
FILLERS = ("the film runs two hours", "it was shot in colour", "we saw it on a friday", "the cast is large")


def tiny_corpus(n: int = 40, seed: int = 0) -> list[Example]:
    """Short reviews, labels in turn, each with four sentences: one gold, one shortcut, two neutral."""
    return [_review(index, python_random(seed, "tiny corpus", index)) for index in range(n)]


def _review(index: int, rng: Any) -> Example:
    label = LABELS[index % 2]
    parts = [("gold", rng.choice(OPINIONS[label])), ("shortcut", SHORTCUTS[label])]
    parts += [("", filler) for filler in rng.sample(FILLERS, 2)]
    rng.shuffle(parts)
    text, spans = "", {"gold": [], "shortcut": [], "": []}
    for kind, part in parts:
        spans[kind].append(Span(len(text), len(text) + len(part)))
        text += f"{part} . "
    return Example(
        f"r{index}", text, label, rationale=tuple(spans["gold"]), shortcuts=tuple(spans["shortcut"])
    )


@cache
def tiny_tokenizer() -> Any:
    """A WordPiece tokenizer learned from the tiny corpus."""
    return train_tokenizer([example.text for example in tiny_corpus(40)], 400)


def tiny_run(method: str = "un_rat", **settings: Any) -> RunConfig:
    """A resolved run config on the tiny encoder, a quarter gold; `settings` are sections (`training={"epochs": 1}`)."""
    encoder = {**TINY, **settings.pop("encoder", {})}
    data = {"gold_share": 0.25, **settings.pop("data", {})}
    config = validate(RunConfig, {"method": method, "encoder": encoder, "data": data, **settings}, "tiny_run")
    return resolve_config(config)


def tiny_model(
    method: str = "un_rat",
    *,
    labels: Sequence[str] = LABELS,
    encoder: dict[str, Any] | None = None,
    use_query: bool = True,
    seed: int = 0,
    **options: Any,
) -> Model:
    """An untrained model in evaluation mode; `options` are the method's own (`selection={...}`)."""
    run = tiny_run(method, encoder=encoder or {}, options=options)
    config = ModelConfig(
        method=method, options=run.options, labels=list(labels), encoder=run.encoder, use_query=use_query
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        built = build_method(config, tiny_encoders(**(encoder or {})))
    return Model(config, built.eval(), tiny_tokenizer())


def tiny_encoders(**settings: Any) -> EncoderFactory:
    """A factory of tiny encoders for the tiny tokenizer."""
    return EncoderFactory(EncoderConfig(**{**TINY, **settings}), tiny_tokenizer())


def tiny_batch(examples: Sequence[Example], max_tokens: int = 64, tokenizer: Any = None) -> Batch:
    """Examples as one padded batch with labels, gold and shortcuts filled in."""
    tokenizer = tokenizer or tiny_tokenizer()
    return collate(tiny_rows(examples, max_tokens, tokenizer), tokenizer.pad_token_id)


def tiny_rows(examples: Sequence[Example], max_tokens: int = 64, tokenizer: Any = None) -> list[InputRow]:
    """Examples as rows with labels, gold and shortcuts filled in."""
    text = TextEncoder(tokenizer or tiny_tokenizer(), max_tokens)
    rows = []
    for example in examples:
        window = text.encode(example, truncate=True).windows[0]
        gold = window.mark_pieces(example.rationale) if example.rationale else None
        shortcuts = window.mark_pieces(example.shortcuts) if example.shortcuts else None
        label = LABELS.index(example.label) if example.label in LABELS else -1
        rows.append(InputRow(example.id, window, label, gold, shortcuts))
    return rows


def learn(
    method: str, folder: Path, *, epochs: int, n_train: int = 40, **settings: Any
) -> tuple[Model, Listener]:
    """Train on so many texts of the tiny corpus, with the next twenty for dev; the model, and what was shown."""
    corpus = tiny_corpus(n_train + 20)
    training = {"epochs": epochs, "batch_size": 8, "learning_rate": 3e-3}
    config, display = tiny_run(method, training=training, **settings), Listener()
    data = make_training_data(config, corpus[:n_train], corpus[n_train:])
    return train(config, data, folder, display), display


def write_splits(folder: Path, **sizes: int) -> Path:
    """Make a folder of JSON Lines: each split is the beginning of the tiny corpus."""
    for split, n in sizes.items():
        write_jsonl(folder / f"{split}.jsonl", tiny_corpus(n))
    return folder


def add_slow(sample: Iterable[Sequence[Any]], more: Iterable[Sequence[Any]]) -> list[Any]:
    """Cases of a test: a sample for every run, and more that are slow."""
    return [*sample, *(pytest.param(*each, marks=pytest.mark.slow) for each in more)]


class Listener:
    """A training display that shows nothing and remembers what it was told."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.steps: list[tuple[str, int, dict[str, float]]] = []
        self.epochs: list[tuple[int, dict[str, float], bool]] = []
        self.total = self.resumed_at = 0

    def start(self, total_steps: int, resumed_at: int = 0) -> None:
        self.total, self.resumed_at = total_steps, resumed_at

    def step(self, phase: str, step: int, losses: Any) -> None:
        self.steps.append((phase, step, dict(losses)))

    def epoch(self, epoch: int, dev: Any, best: bool) -> None:
        self.epochs.append((epoch, dict(dev), best))

    def message(self, text: str) -> None:
        self.messages.append(text)


class Intruder(Listener):
    """A listener that does something at a step, counted from 1."""

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        super().__init__()
        self.at, self.act = at, act

    def step(self, phase: str, step: int, losses: Any) -> None:
        super().step(phase, step, losses)
        if len(self.steps) == self.at:
            self.act()


def is_alive(process: int) -> bool:
    """Return whether a process runs; one that has ended but was not waited for does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
