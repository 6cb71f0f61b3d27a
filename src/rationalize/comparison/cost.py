"""What a comparison will cost: passes through encoders counted from the plan, seconds from a timed batch."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import lru_cache

from rationalize.comparison.run_cell import Checked
from rationalize.config import EncoderConfig
from rationalize.devices import resolve_device
from rationalize.methods.registry import method_class
from rationalize.runs.preparation import needs_shortcuts

BACKWARD = 3
"""A pass forward and back costs about as much as three forward."""
FINDER_PASSES = 2
PIECES_PER_WORD = 1.3
TIMED = 16
"""Texts in the timed batch."""


def count_passes(cells: Sequence[Checked]) -> dict[str, float]:
    """Texts read by an encoder, by key of the cell; what several cells share is counted once."""
    found: dict[str, float] = {}
    trained: set[str] = set()
    for each in cells:
        name = each.artifacts or each.cell.key
        finder = needs_shortcuts(each.cell.config) and name not in trained
        warm = each.warm_start is not None and each.warm_start not in trained
        trained |= {name, *([each.warm_start] if each.warm_start else [])}
        found[each.cell.key] = _count_passes(each, finder=finder) + _warm_passes(each) * warm
    return found


def _count_passes(each: Checked, *, finder: bool) -> float:
    config, about = each.cell.config, method_class(each.cell.config.method).about
    copies = 0.0 if config.augment.kind == "none" else config.augment.share
    learned = each.n_train * (1 + copies) * _most(about.passes_train)
    learned += (each.n_train - each.n_gold) * FINDER_PASSES * finder
    epochs = config.training.epochs * config.training.epoch_share
    return BACKWARD * epochs * learned + each.n_read * _most(about.passes_explain)


def _warm_passes(each: Checked) -> float:
    return BACKWARD * each.cell.config.training.warm_start * each.n_train


def _most(described: str) -> int:
    """The largest number in a description such as `1 (gold) or 2 (rest)`."""
    return max(map(int, re.findall(r"\d+", described)), default=FINDER_PASSES)


def estimate_seconds(each: Checked, n_passes: float) -> float:
    """Passes times the measured time of one, on this machine, with this encoder and length."""
    encoder = each.cell.config.encoder
    length = max(8, min(round(PIECES_PER_WORD * each.n_words), encoder.max_tokens))
    return n_passes * _seconds_per_pass(encoder, length, each.cell.config.device)


@lru_cache
def _seconds_per_pass(config: EncoderConfig, length: int, device: str) -> float:
    import torch

    from rationalize.models.encoder import EncoderFactory
    from rationalize.models.tokenizer import FROM_SCRATCH, load_tokenizer, train_tokenizer

    scratch = config.name in FROM_SCRATCH
    tokenizer = train_tokenizer(["a text"], config.vocabulary) if scratch else load_tokenizer(config.name)
    place = resolve_device(device)
    encoder = EncoderFactory(config, tokenizer).new().eval().to(place)
    ids = torch.ones(TIMED, length, dtype=torch.long, device=place)
    with torch.inference_mode():
        for _ in range(2):  # the first warms up
            began = time.perf_counter()
            reading = encoder.read(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
            reading.pooled.cpu()  # which waits until it is there
    return (time.perf_counter() - began) / TIMED
