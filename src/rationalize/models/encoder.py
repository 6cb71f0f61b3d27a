"""Encoders behind one small interface (`reading`), made by one factory.

`EncoderFactory` makes as many fresh encoders as a method asks for, with pretrained weights when training starts
and without when a saved model's own weights are about to be loaded.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rationalize.config import EncoderConfig
from rationalize.errors import EncoderError
from rationalize.models._architecture import describe_architecture, read_architecture
from rationalize.models._gru_encoder import GruEncoder
from rationalize.models.reading import Encoder
from rationalize.models.tokenizer import FROM_SCRATCH, source_of
from rationalize.models.transformer_encoder import FIRST_POSITION, TransformerEncoder

# What architectures call these two settings.
ATTENTION_DROPOUTS = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop")
HIDDEN_DROPOUTS = ("hidden_dropout_prob", "hidden_dropout", "dropout", "resid_pdrop", "embd_pdrop")


@dataclass(frozen=True)
class Start:
    """What encoders and class heads of a warm start are copies of."""

    encoder: Encoder
    head: nn.Linear


@dataclass(frozen=True)
class EncoderFactory:
    """Makes encoders of one kind.

    Attributes:
        config: The encoder's settings.
        tokenizer: Decides vocabulary size and special ids.
        saved: A model folder whose `encoder.json` describes the architecture; weights come from elsewhere.
        start: A trained classifier's parts, which new encoders and class heads are copies of.
    """

    config: EncoderConfig
    tokenizer: Any
    saved: Path | None = None
    start: Start | None = None

    def new(self) -> Encoder:
        """A fresh encoder."""
        if self.start is not None:
            return deepcopy(self.start.encoder)
        self._check_width()
        if self.config.name == "gru":
            return GruEncoder(len(self.tokenizer), self.config, self.tokenizer.mask_token_id)
        model = self._transformer()
        mask_id, pad_id = self.tokenizer.mask_token_id, self.tokenizer.pad_token_id
        return TransformerEncoder(model, self.pooling(model.config), mask_id, pad_id or 0)

    def new_class_head(self, width: int, n_classes: int) -> nn.Linear:
        """What tells the class from an encoder's pooled vector."""
        return nn.Linear(width, n_classes) if self.start is None else deepcopy(self.start.head)

    def pooling(self, architecture: Any) -> str:
        """What `auto` means for this encoder."""
        if self.config.pooling != "auto":
            return self.config.pooling
        if self.config.name in {"minilm", *FROM_SCRATCH}:
            return "mean"
        return "cls" if self.tokenizer.cls_token_id is not None else "last"

    def _check_width(self) -> None:
        parts = {"tiny": self.config.heads, "gru": 2}.get(self.config.name, 1)  # a GRU reads in 2 directions
        if self.config.hidden_size % parts:
            raise EncoderError(
                f"encoder {self.config.name}: hidden_size is {self.config.hidden_size}, expected a multiple of "
                f"{parts} ({'encoder.heads' if self.config.name == 'tiny' else 'directions'})."
            )

    def _transformer(self) -> Any:
        from safetensors import SafetensorError
        from transformers import AutoConfig, AutoModel
        from transformers.utils import logging

        logging.disable_progress_bar()  # a bar for reading one file, in the middle of ours
        if self.saved is not None:
            architecture = read_architecture(self.saved / "encoder.json")
            return AutoModel.from_config(self._adapt(architecture), trust_remote_code=False)
        if self.config.name == "tiny":
            return AutoModel.from_config(self._adapt(self._tiny()))
        source = source_of(self.config.name)
        try:
            architecture = AutoConfig.from_pretrained(source, trust_remote_code=False)
            self._adapt(architecture)
            return AutoModel.from_pretrained(
                source,
                config=architecture,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
            )
        except (OSError, ValueError, SafetensorError) as error:
            raise EncoderError(
                f"encoder {self.config.name!r} could not be loaded ({str(error).splitlines()[0]}). "
                "Expected minilm, tiny, gru, a local folder, or a Hugging Face id that can be reached from here; "
                "weights must be safetensors."
            ) from error

    def _tiny(self) -> Any:
        from transformers import BertConfig

        return BertConfig(
            vocab_size=len(self.tokenizer),
            hidden_size=self.config.hidden_size,
            num_hidden_layers=self.config.layers,
            num_attention_heads=self.config.heads,
            intermediate_size=2 * self.config.hidden_size,
            max_position_embeddings=self.config.max_tokens,
            pad_token_id=self.tokenizer.pad_token_id,
        )

    def _adapt(self, architecture: Any) -> Any:
        """The architecture with our dropout, and a length that it can read."""
        if getattr(architecture, "is_encoder_decoder", False):
            raise EncoderError(
                f"encoder {self.config.name!r} is a pair of encoder and decoder ({architecture.model_type}). "
                "Expected a plain encoder (BERT, RoBERTa …) or decoder (LLaMA, GPT …)."
            )
        for name in ATTENTION_DROPOUTS:
            if hasattr(architecture, name):
                setattr(architecture, name, self.config.attention_dropout)
        for name in HIDDEN_DROPOUTS:
            if hasattr(architecture, name) and self.config.dropout is not None:
                setattr(architecture, name, self.config.dropout)
        limit = getattr(architecture, "max_position_embeddings", None)
        if limit is not None:
            limit -= FIRST_POSITION.get(architecture.model_type, 0)
            if self.config.max_tokens > limit:
                raise EncoderError(
                    f"encoder.max_tokens is {self.config.max_tokens}, but {self.config.name} reads at most {limit}. "
                    f"Set encoder.max_tokens to {limit} or less."
                )
        return architecture


def describe(encoder: Encoder) -> dict[str, Any]:
    """The architecture, as JSON that `EncoderFactory.saved` understands."""
    return describe_architecture(encoder.model.config) if isinstance(encoder, TransformerEncoder) else {}
