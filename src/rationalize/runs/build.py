"""Build the untrained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch

from rationalize.config import RunConfig
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
        texts = (text for example in data.train for text in (example.text, example.query) if text)
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
