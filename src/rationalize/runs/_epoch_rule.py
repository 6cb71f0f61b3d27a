"""Which dev scores choose an epoch, and how much an epoch may select to be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rationalize.config import RunConfig
from rationalize.methods.registry import method_class
from rationalize.runs.training_data import TrainingData
from rationalize.text.windows import Encoded
from rationalize.text.words import word_mask

FIXED_SHARE = ("topk", "span", "calibrated")
"""Decodings that show the same share after every epoch, so that there is nothing to choose by it."""


@dataclass(frozen=True)
class ShareBand:
    """The shares of the words around the wanted one at which an epoch may be chosen.

    Attributes:
        wanted: The wanted share.
        width: How far from it a share may be, as a part of it.
    """

    wanted: float
    width: float

    def holds(self, share: float | None) -> bool:
        """Return whether a share is in the band; an unknown one is not."""
        return share is not None and abs(share - self.wanted) <= self.width * self.wanted + 1e-9


def score_epoch(scores: Mapping[str, float], config: RunConfig) -> float | None:
    """Return the score that chooses epochs; None: choose the newest. A score that dev lacks is 0.

    The label is the one from the rationale alone, where the method learns to read it (`Method.epoch_label`): a label
    from the full text is no better for a better rationale.
    """
    rule = config.training.select_by
    if rule == "last":
        return None
    about = method_class(config.method).about
    if rule == "auto":
        rule = "token_f1" if about.supervision != "none" and "token_f1" in scores else "task_f1"
    task, token = find_task_score(scores, config), scores.get("token_f1", 0.0)
    by_rule = {"task_f1": task, "token_f1": token, "task_and_token_f1": (task + token) / 2}
    return by_rule[rule]


def find_task_score(scores: Mapping[str, float], config: RunConfig) -> float:
    """Return the task F1 that chooses epochs."""
    decided = scores.get("task_f1", 0.0)
    from_rationale = method_class(config.method).epoch_label == "rationale"
    return scores.get("task_f1_rationale", decided) if from_rationale else decided


def make_share_band(config: RunConfig, data: TrainingData, dev: Sequence[Encoded]) -> ShareBand | None:
    """Make the band around the wanted share; None: every share is fine.

    Wanted is gold's share of the dev words that are read, if the method learns from gold, else the method's own
    `selection.share`.
    """
    selection = config.options.get("selection", {})
    width = config.training.share_band
    if width is None or config.training.select_by == "last" or selection.get("decoding") in FIXED_SHARE:
        return None
    taught = method_class(config.method).about.supervision != "none" and data.gold_ids
    wanted = (measure_gold_share(dev) if taught else None) or selection.get("share")
    return ShareBand(wanted, width) if wanted else None


def measure_gold_share(encoded: Sequence[Encoded]) -> float | None:
    """Return gold's share of the words that are read, over annotated examples; None without any."""
    gold = read = 0
    for item in encoded:
        if item.example.rationale is not None:
            words = item.words[: item.n_words_read]
            gold += sum(word_mask(words, item.example.rationale))
            read += len(words)
    return gold / read if read else None
