"""The model before the first step, and the rule by which its epochs are scored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch

from rationalize.config import RunConfig
from rationalize.methods.registry import method_class
from rationalize.models.encoder import EncoderFactory, Start
from rationalize.models.tokenizer import FROM_SCRATCH, load_tokenizer, train_tokenizer
from rationalize.runs.model_folder import Model, ModelConfig, build_method, load_model
from rationalize.runs.training_data import TrainingData
from rationalize.seeding import derive_seed

if TYPE_CHECKING:
    from rationalize.methods.full_text.full_text import FullText


def build_untrained(config: RunConfig, data: TrainingData) -> Model:
    """The model as it is before the first step: pretrained, warmed-up or seeded encoders, seeded heads."""
    classifier = _load_classifier(data.start)
    if classifier is not None:
        tokenizer = classifier.tokenizer
    elif config.encoder.name in FROM_SCRATCH:
        texts = [text for example in data.train for text in (example.text, example.query) if text]
        tokenizer = train_tokenizer(texts, config.encoder.vocabulary)
    else:
        tokenizer = load_tokenizer(config.encoder.name)
    described = ModelConfig(
        method=config.method,
        options=config.options,
        labels=list(data.labels),
        encoder=config.encoder,
        use_query=data.use_query,
        words=data.words,
    )
    with torch.random.fork_rng():
        torch.manual_seed(derive_seed(config.seed, "weights"))
        method = build_method(described, EncoderFactory(config.encoder, tokenizer, start=_start(classifier)))
    return Model(described, method, tokenizer)


def _load_classifier(start: Path | None) -> Model | None:
    return load_model(start) if start is not None else None


def _start(classifier: Model | None) -> Start | None:
    if classifier is None:
        return None
    net = cast("FullText", classifier.method).net
    return Start(net.encoder, net.head)


def score_epoch(scores: Mapping[str, float], config: RunConfig) -> float | None:
    """The number by which epochs are chosen; None: the newest is taken. A score that dev lacks is 0."""
    rule = config.training.select_by
    if rule == "last":
        return None
    if rule == "auto":
        sees_gold = method_class(config.method).about.supervision != "none"
        rule = "token_f1" if sees_gold and "token_f1" in scores else "task_f1"
    task, token = scores.get("task_f1", 0.0), scores.get("token_f1", 0.0)
    by_rule = {"task_f1": task, "token_f1": token, "task_and_token_f1": (task + token) / 2}
    return by_rule[rule]
