"""Make encoders, all behind one small interface (`reading`).

`EncoderFactory` makes as many fresh encoders as a method needs: with pretrained weights when training starts, without
them when a saved model's own weights are loaded next.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rationalize.config import EncoderConfig
from rationalize.errors import EncoderError
from rationalize.models._architecture import list_settings, read_architecture
from rationalize.models._gru_encoder import GruEncoder
from rationalize.models.depth import LAYERS_FIELD, check_depth, make_load_error
from rationalize.models.known_encoders import KNOWN
from rationalize.models.onnx_encoder import OnnxEncoder, OnnxExport
from rationalize.models.reading import Encoder
from rationalize.models.tokenizer import FROM_SCRATCH, NAMED_ENCODERS, find_source
from rationalize.models.transformer_encoder import FIRST_POSITION, TransformerEncoder

# Names of these two settings in different architectures.
ATTENTION_DROPOUTS = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop")
HIDDEN_DROPOUTS = ("hidden_dropout_prob", "hidden_dropout", "dropout", "resid_pdrop", "embd_pdrop")


@dataclass(frozen=True)
class Start:
    """The trained parts that a warm start copies."""

    encoder: Encoder
    head: nn.Linear


@dataclass(frozen=True)
class EncoderFactory:
    """Makes encoders of one kind.

    Attributes:
        config: The encoder's settings.
        tokenizer: Determines vocabulary size and special ids.
        saved: A model folder whose `encoder.json` describes the architecture; weights come from elsewhere.
        start: A trained classifier's parts; new encoders and class heads are copies of them.
        export: Describes the graphs of an exported model; they and their embeddings come from elsewhere.
    """

    config: EncoderConfig
    tokenizer: Any
    saved: Path | None = None
    start: Start | None = None
    export: OnnxExport | None = None

    def make(self, layers: int | None = None) -> Encoder:
        """Make a fresh encoder; with `layers`, one that has only so many, the first ones."""
        encoder = self._make_whole()
        encoder.name = self.config.name
        if layers is not None:
            check_depth(layers, encoder.depth, encoder.name, LAYERS_FIELD)
            encoder.keep_layers(layers)
        return encoder

    def _make_whole(self) -> Encoder:
        if self.start is not None:
            return deepcopy(self.start.encoder)
        if self.export is not None:
            return OnnxEncoder(self.export)
        self._check_shape()
        if self.config.name == "gru":
            return GruEncoder(len(self.tokenizer), self.config, self.tokenizer.mask_token_id)
        model = self._load_transformer()
        mask_id, pad_id = self.tokenizer.mask_token_id, self.tokenizer.pad_token_id
        return TransformerEncoder(model, self._choose_pooling(), mask_id, pad_id or 0)

    def make_class_head(self, width: int, n_classes: int) -> nn.Linear:
        """Make a head that turns an encoder's pooled vector into class logits."""
        return nn.Linear(width, n_classes) if self.start is None else deepcopy(self.start.head)

    def _choose_pooling(self) -> str:
        """Return the configured pooling, `auto` resolved for this encoder."""
        if self.config.pooling != "auto":
            return self.config.pooling
        if self.config.name in NAMED_ENCODERS:
            return "mean"
        return "cls" if self.tokenizer.cls_token_id is not None else "last"

    def _check_shape(self) -> None:
        if self.config.keep_layers is not None and self.config.name in FROM_SCRATCH:
            raise EncoderError(
                f"encoder.keep_layers is {self.config.keep_layers}, but {self.config.name} is learned from nothing "
                "and has no layers to keep. Set encoder.layers instead.",
                field="encoder.keep_layers",
            )
        parts = {"tiny": self.config.heads, "gru": 2}.get(self.config.name, 1)  # a GRU reads in 2 directions
        if self.config.hidden_size % parts:
            raise EncoderError(
                f"encoder {self.config.name}: hidden_size is {self.config.hidden_size}, expected a multiple of "
                f"{parts} ({'encoder.heads' if self.config.name == 'tiny' else 'directions'})."
            )

    def _load_transformer(self) -> Any:
        from safetensors import SafetensorError
        from transformers import AutoConfig, AutoModel
        from transformers.utils import logging

        logging.disable_progress_bar()  # a bar for one file would interrupt ours
        if self.saved is not None:
            architecture = read_architecture(self.saved / "encoder.json")
            return AutoModel.from_config(
                self._adapt(architecture), trust_remote_code=False, **self._choose_parts()
            )
        if self.config.name == "tiny":
            return AutoModel.from_config(self._adapt(self._describe_tiny()))
        source = find_source(self.config.name)
        try:
            architecture = AutoConfig.from_pretrained(source, trust_remote_code=False)
            self._shorten(self._adapt(architecture))
            with _expect_dropped_layers(self.config.keep_layers is not None):
                loaded = AutoModel.from_pretrained(
                    source,
                    config=architecture,
                    trust_remote_code=False,
                    use_safetensors=True,
                    dtype=torch.float32,
                    **self._choose_parts(),
                )
            return _align(loaded)
        except (OSError, ValueError, SafetensorError) as error:
            raise make_load_error(self.config.name, error) from error

    def _choose_parts(self) -> dict[str, bool]:
        """Known encoders come without a pooler, and a random one would be worse than none."""
        return {"add_pooling_layer": False} if self.config.name in KNOWN else {}

    def _shorten(self, architecture: Any) -> None:
        """Let the architecture have only the layers to keep: the weights of the others are then not loaded."""
        kept = self.config.keep_layers
        if kept is None:
            return
        there = getattr(architecture, "num_hidden_layers", None)
        if there is None or kept > there:
            has = f"has {there}" if there is not None else "does not tell how many it has"
            raise EncoderError(
                f"encoder.keep_layers is {kept}, but {self.config.name} {has}. "
                + (f"Set encoder.keep_layers to {there} or less." if there else "Leave it out."),
                field="encoder.keep_layers",
            )
        architecture.num_hidden_layers = kept
        # One entry per layer, where layers are of several kinds.
        if getattr(architecture, "layer_types", None):
            architecture.layer_types = architecture.layer_types[:kept]

    def _describe_tiny(self) -> Any:
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
        """Set our dropout in the architecture, and check that it can read `max_tokens`."""
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


def _align(module: nn.Module) -> nn.Module:
    """Copy weights out of the file that they are mapped from.

    Where a tensor begins in memory decides how products are rounded, and in a file it begins anywhere: the same
    weights would answer differently in the ninth decimal before and after saving.
    """
    for tensor in (*module.parameters(), *module.buffers()):
        tensor.data = tensor.data.clone()
    return module


@contextmanager
def _expect_dropped_layers(wanted: bool) -> Iterator[None]:
    """Keep transformers from listing every weight of the layers that were left out on purpose."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    if wanted:
        logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def describe_architecture(encoder: Encoder) -> dict[str, Any]:
    """Describe the architecture as JSON that `EncoderFactory.saved` can read."""
    return list_settings(encoder.model.config) if isinstance(encoder, TransformerEncoder) else {}
