"""The plain label that people get from Hugging Face: tokenizer and classifier, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rationalize.config import Precision
from rationalize.runs.model_folder import Model
from rationalize.types import Example

BATCH = 32


@dataclass(frozen=True)
class PlainLabel:
    """A Hugging Face encoder with mean pooling and a class head, read as its documentation shows it.

    In bf16 it is read with torch's autocast, as people do it.
    """

    tokenizer: Any
    bert: Any
    head: torch.nn.Module
    max_tokens: int
    precision: Precision = "fp32"

    @classmethod
    def from_full_text(cls, model: Model) -> PlainLabel:
        """Take encoder and head of a `full_text` model."""
        net = model.method.eval().net
        return cls(model.tokenizer, net.encoder.model, net.head, model.config.encoder.max_tokens)

    def tokenize(self, texts: Sequence[str]) -> Any:
        """Return tensors for texts, padded to the longest."""
        return self.tokenizer(
            list(texts), truncation=True, max_length=self.max_tokens, padding=True, return_tensors="pt"
        )

    def logits_of(self, attention: Tensor, **inputs: Tensor) -> Tensor:
        """Return class logits (b, C); `inputs` are `input_ids` or `inputs_embeds`."""
        hidden = self.bert(**inputs, attention_mask=attention).last_hidden_state
        weights = attention[..., None].to(hidden.dtype)
        logits: Tensor = self.head((hidden * weights).sum(1) / weights.sum(1))
        return logits

    def probabilities(self, texts: Sequence[str]) -> Tensor:
        """Return class probabilities (b, C) of one batch."""
        batch = self.tokenize(texts)
        rounded = torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.precision == "bf16")
        with torch.inference_mode(), rounded:
            logits = self.logits_of(
                batch["attention_mask"], input_ids=batch["input_ids"], token_type_ids=batch["token_type_ids"]
            )
            return logits.float().softmax(-1)

    def label_one_by_one(self, examples: Sequence[Example]) -> list[int]:
        """Label one text at a time."""
        return [int(self.probabilities([each.text]).argmax()) for each in examples]

    def label_by_length(self, examples: Sequence[Example]) -> list[int]:
        """Label batches of texts of similar length."""
        order = sorted(range(len(examples)), key=lambda index: len(examples[index].text))
        found = [0] * len(examples)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            labels = self.probabilities([examples[index].text for index in part]).argmax(-1).tolist()
            for index, label in zip(part, labels, strict=True):
                found[index] = label
        return found
