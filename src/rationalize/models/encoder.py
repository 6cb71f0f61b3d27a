"""Encoders behind one small interface: embed pieces, read embeddings, pool.

`EncoderFactory` makes as many fresh encoders as a method asks for, with pretrained weights when training starts
and without when a saved model's own weights are about to be loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rationalize.config import EncoderConfig
from rationalize.errors import EncoderError
from rationalize.files import read_json
from rationalize.models.tokenizer import FROM_SCRATCH, source_of

# What architectures call these two settings.
ATTENTION_DROPOUTS = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop")
HIDDEN_DROPOUTS = ("hidden_dropout_prob", "hidden_dropout", "dropout", "resid_pdrop", "embd_pdrop")


class Reading(NamedTuple):
    """What an encoder says of a batch: a vector per piece (b, n, d) and one per row (b, d)."""

    hidden: Tensor
    pooled: Tensor


class Encoder(nn.Module):
    """Base of all encoders."""

    hidden_size: int

    def embed(self, input_ids: Tensor) -> Tensor:
        """Word-piece embeddings, before positions. (b, n) -> (b, n, e)."""
        raise NotImplementedError

    def mask_embedding(self) -> Tensor:
        """The embedding that stands for a hidden piece. (e,)."""
        raise NotImplementedError

    def forward(self, embedded: Tensor, attention: Tensor, token_types: Tensor) -> Reading:
        """Read embeddings; `attention` is bool, or in [0, 1] to weaken the look at a piece."""
        raise NotImplementedError

    def read(self, input_ids: Tensor, attention: Tensor, token_types: Tensor) -> Reading:
        """Read word pieces."""
        reading: Reading = self(self.embed(input_ids), attention, token_types)
        return reading


class TransformerEncoder(Encoder):
    """Any Hugging Face encoder or decoder."""

    def __init__(self, model: Any, pooling: str, mask_id: int | None, pad_id: int) -> None:
        super().__init__()
        self.model = model
        self.hidden_size = int(model.config.hidden_size)
        self.pooling = pooling
        # Decoders have no [MASK]; padding is the nearest to "nothing here" that they have an embedding for.
        self.mask_id = pad_id if mask_id is None else mask_id
        self.takes_types = getattr(self.model.config, "type_vocab_size", 0) > 1
        # A mask of ours replaces the model's own, so it has to know who may look ahead.
        self.causal = any(getattr(module, "is_causal", False) for module in self.model.modules())
        self.has_pooler = pooling == "cls" and getattr(self.model, "pooler", None) is not None
        if not self.has_pooler and hasattr(self.model, "pooler"):
            self.model.pooler = None  # never used, so neither trained nor saved

    def embed(self, input_ids: Tensor) -> Tensor:
        embedded: Tensor = self.model.get_input_embeddings()(input_ids)
        return embedded

    def mask_embedding(self) -> Tensor:
        weight: Tensor = self.model.get_input_embeddings().weight
        return weight[self.mask_id]

    def forward(self, embedded: Tensor, attention: Tensor, token_types: Tensor) -> Reading:
        arguments: dict[str, Any] = {"inputs_embeds": embedded}
        if attention.dtype == torch.bool:
            arguments["attention_mask"] = attention.long()
        else:
            arguments["attention_mask"] = _additive(attention, causal=self.causal)
        if self.takes_types:
            arguments["token_type_ids"] = token_types
        out = self.model(**arguments)
        return Reading(out.last_hidden_state, self._pool(out, attention))

    def _pool(self, out: Any, attention: Tensor) -> Tensor:
        hidden: Tensor = out.last_hidden_state
        if self.pooling == "mean":
            # A piece that is hardly looked at hardly counts: its own vector would give it away.
            weights = attention.to(hidden.dtype)[..., None]
            return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)
        if self.pooling == "last":
            positions = torch.arange(attention.shape[1], device=attention.device)
            last = ((attention > 0) * positions).argmax(-1)
            return hidden[torch.arange(len(hidden), device=hidden.device), last]
        return out.pooler_output if self.has_pooler else hidden[:, 0]


def _additive(attention: Tensor, *, causal: bool) -> Tensor:
    """log(attention) for every query, ready to be added to attention scores. (b, n) -> (b, 1, n, n)."""
    # Half of the lowest number: the sum stays finite even for a piece that may look at nothing.
    lowest = torch.finfo(attention.dtype).min / 2
    bias = attention.clamp(min=torch.finfo(attention.dtype).tiny).log().masked_fill(attention <= 0, lowest)
    n = attention.shape[1]
    bias = bias[:, None, None, :].expand(-1, 1, n, -1)
    later = torch.ones(n, n, dtype=torch.bool, device=bias.device).triu(1)
    return bias.masked_fill(later, lowest) if causal else bias


class GruEncoder(Encoder):
    """Embeddings and a bidirectional GRU, max-pooled over time: the classic of this field."""

    def __init__(self, vocabulary: int, config: EncoderConfig, mask_id: int) -> None:
        super().__init__()
        self.hidden_size = config.hidden_size
        self.mask_id = mask_id
        self.embedding = nn.Embedding(vocabulary, config.hidden_size)
        self.gru = nn.GRU(
            config.hidden_size,
            config.hidden_size // 2,
            num_layers=config.layers,
            batch_first=True,
            bidirectional=True,
        )
        self.dropout = nn.Dropout(0.1 if config.dropout is None else config.dropout)

    def embed(self, input_ids: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(input_ids)
        return embedded

    def mask_embedding(self) -> Tensor:
        return self.embedding.weight[self.mask_id]

    def forward(self, embedded: Tensor, attention: Tensor, token_types: Tensor) -> Reading:
        # A GRU cannot look away from a piece; the nearest thing is to weaken the piece itself.
        embedded = self.dropout(embedded) * attention.to(embedded.dtype)[..., None]
        present = attention > 0
        positions = torch.arange(1, present.shape[1] + 1, device=present.device)
        lengths = (present * positions).amax(-1).clamp(min=1)
        packed = nn.utils.rnn.pack_padded_sequence(
            embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        hidden, _ = nn.utils.rnn.pad_packed_sequence(
            self.gru(packed)[0], True, total_length=embedded.shape[1]
        )
        pooled = hidden.masked_fill(~present[..., None], float("-inf")).amax(1)
        return Reading(self.dropout(hidden), self.dropout(pooled))


@dataclass(frozen=True)
class EncoderFactory:
    """Makes encoders of one kind.

    Attributes:
        config: The encoder's settings.
        tokenizer: Decides vocabulary size and special ids.
        saved: A model folder whose `encoder.json` describes the architecture; weights come from elsewhere.
    """

    config: EncoderConfig
    tokenizer: Any
    saved: Path | None = None

    def new(self) -> Encoder:
        """A fresh encoder."""
        self._check_width()
        if self.config.name == "gru":
            return GruEncoder(len(self.tokenizer), self.config, self.tokenizer.mask_token_id)
        model = self._transformer()
        mask_id, pad_id = self.tokenizer.mask_token_id, self.tokenizer.pad_token_id
        return TransformerEncoder(model, self.pooling(model.config), mask_id, pad_id or 0)

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
            described = read_json(self.saved / "encoder.json")
            architecture = AutoConfig.for_model(described["model_type"]).from_dict(described)
            return AutoModel.from_config(self._settled(architecture), trust_remote_code=False)
        if self.config.name == "tiny":
            return AutoModel.from_config(self._settled(self._tiny()))
        source = source_of(self.config.name)
        try:
            architecture = AutoConfig.from_pretrained(source, trust_remote_code=False)
            self._settled(architecture)
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

    def _settled(self, architecture: Any) -> Any:
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
            # RoBERTa-like models keep the first positions for padding.
            limit -= (
                2 if architecture.model_type in {"roberta", "xlm-roberta", "camembert", "longformer"} else 0
            )
            if self.config.max_tokens > limit:
                raise EncoderError(
                    f"encoder.max_tokens is {self.config.max_tokens}, but {self.config.name} reads at most {limit}. "
                    f"Set encoder.max_tokens to {limit} or less."
                )
        return architecture


def describe(encoder: Encoder) -> dict[str, Any]:
    """The architecture, as JSON that `EncoderFactory.saved` understands."""
    return encoder.model.config.to_dict() if isinstance(encoder, TransformerEncoder) else {}
