"""Estimate the cost of a comparison: encoder passes counted from the plan, seconds from a timed batch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache

from rationalize.comparison.run_cell import Checked
from rationalize.config import EncoderConfig
from rationalize.devices import resolve_device
from rationalize.methods.passes import Passes
from rationalize.methods.registry import method_class
from rationalize.runs.preparation import needs_shortcuts
from rationalize.training.phases import collect_passes

BACKWARD = 3
"""A pass forward and back costs about as much as three forward."""
PIECES_PER_WORD = 1.3
TIMED = 16
"""Texts in the timed batch."""


def count_passes(cells: Sequence[Checked]) -> dict[str, float]:
    """Count the texts that encoders read, by cell key; shared work counts once."""
    found: dict[str, float] = {}
    trained: set[str] = set()
    for each in cells:
        name = each.artifacts or each.cell.key
        finder = needs_shortcuts(each.cell.config) and name not in trained
        warm = each.warm_start is not None and each.warm_start not in trained
        trained |= {name, *([each.warm_start] if each.warm_start else [])}
        found[each.cell.key] = _count_passes(each, finder=finder) + _count_warm_start_passes(each) * warm
    return found


def _count_passes(each: Checked, *, finder: bool) -> float:
    config = each.cell.config
    passes = collect_passes(method_class(config.method), config, each.n_classes)
    explained = each.n_read * (passes.explain + passes.explain_word * each.n_words)
    learned = _count_training_passes(each, passes) + _count_finder_passes(each) * finder
    return BACKWARD * config.training.epoch_share * learned + explained


def _count_training_passes(each: Checked, passes: Passes) -> float:
    """Count the texts read in training: each phase's pool, times its passes, times its epochs."""
    config = each.cell.config
    rest = each.n_train - each.n_gold
    copies = each.n_train * config.augment.share
    rows = {"all": each.n_train, "gold": each.n_gold, "rest": rest, "augmented": copies}
    return sum(
        rows[phase.pool] * phase.passes * (config.training.epochs if phase.epochs is None else phase.epochs)
        for phase in passes.train
    )


def _count_finder_passes(each: Checked) -> float:
    """Count the texts read to train the shortcut finder, which learns from the examples without gold."""
    config = each.cell.config
    finder = method_class("un_rat")
    [phase] = finder.passes(
        finder.Config.model_validate(config.shortcuts.finder.model_dump()), each.n_classes
    ).train
    epochs = config.shortcuts.epochs or config.training.epochs
    return (each.n_train - each.n_gold or each.n_train) * phase.passes * epochs


def _count_warm_start_passes(each: Checked) -> float:
    return BACKWARD * each.cell.config.training.warm_start * each.n_train


def estimate_seconds(each: Checked, n_passes: float) -> float:
    """Multiply the passes by the time of one, measured on this machine with this encoder and length."""
    encoder = each.cell.config.encoder
    length = max(8, min(round(PIECES_PER_WORD * each.n_words), encoder.max_tokens))
    return n_passes * _time_pass(encoder, length, each.cell.config.device)


@lru_cache
def _time_pass(config: EncoderConfig, length: int, device: str) -> float:
    import torch

    from rationalize.models.encoder import EncoderFactory
    from rationalize.models.tokenizer import FROM_SCRATCH, load_tokenizer, train_tokenizer

    scratch = config.name in FROM_SCRATCH
    tokenizer = train_tokenizer(["a text"], config.vocabulary) if scratch else load_tokenizer(config.name)
    place = resolve_device(device)
    encoder = EncoderFactory(config, tokenizer).make().eval().to(place)
    ids = torch.ones(TIMED, length, dtype=torch.long, device=place)
    with torch.inference_mode():
        for _ in range(2):  # the first warms up
            began = time.perf_counter()
            reading = encoder(
                encoder.embed(ids), torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids)
            )
            reading.pooled.cpu()  # which waits until it is there
    return (time.perf_counter() - began) / TIMED
