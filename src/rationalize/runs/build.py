"""Build the untrained model, and score its epochs."""

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
    """Build the model as it is before the first step: encoders pretrained, warm-started or seeded; heads seeded."""
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
        method = build_method(
            described, EncoderFactory(config.encoder, tokenizer, start=_make_start(classifier))
        )
    return Model(described, method, tokenizer)


def _load_classifier(start: Path | None) -> Model | None:
    return load_model(start) if start is not None else None


def _make_start(classifier: Model | None) -> Start | None:
    if classifier is None:
        return None
    net = cast("FullText", classifier.method).net
    return Start(net.encoder, net.head)


def score_epoch(scores: Mapping[str, float], config: RunConfig) -> float | None:
    """Return the score that chooses epochs; None: choose the newest. A score that dev lacks is 0."""
    rule = config.training.select_by
    if rule == "last":
        return None
    if rule == "auto":
        sees_gold = method_class(config.method).about.supervision != "none"
        rule = "token_f1" if sees_gold and "token_f1" in scores else "task_f1"
    task, token = scores.get("task_f1", 0.0), scores.get("token_f1", 0.0)
    by_rule = {"task_f1": task, "token_f1": token, "task_and_token_f1": (task + token) / 2}
    return by_rule[rule]
