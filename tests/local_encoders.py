"""Tiny pretrained encoders as folders on disk: random weights in safetensors beside a small tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    GPT2Config,
    GPT2Model,
    LlamaConfig,
    LlamaModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
)

from small_tokenizers import byte_level, unigram

WIDTH, POSITIONS = 32, 64
SIZES: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 2 * WIDTH,
}


def _roberta(vocabulary: int) -> Any:
    own = {"max_position_embeddings": POSITIONS + 2, "pad_token_id": 1, "type_vocab_size": 1}
    return RobertaModel(RobertaConfig(vocab_size=vocabulary, **SIZES, **own))


def _mpnet(vocabulary: int) -> Any:
    own = {"max_position_embeddings": POSITIONS + 2, "pad_token_id": 1}
    return MPNetModel(MPNetConfig(vocab_size=vocabulary, **SIZES, **own))


def _llama(vocabulary: int) -> Any:
    own = {"max_position_embeddings": POSITIONS, "num_key_value_heads": 1}
    return LlamaModel(LlamaConfig(vocab_size=vocabulary, **SIZES, **own))


def _gpt2(vocabulary: int) -> Any:
    ids = {"bos_token_id": 2, "eos_token_id": 2}
    return GPT2Model(
        GPT2Config(vocab_size=vocabulary, n_embd=WIDTH, n_layer=2, n_head=2, n_positions=POSITIONS, **ids)
    )


KINDS = {
    "roberta": (byte_level, _roberta),
    "mpnet": (byte_level, _mpnet),
    "llama": (lambda: unigram(llama=True), _llama),
    "gpt2": (lambda: byte_level(specials=False, prefix_space=False), _gpt2),
}


def save_local(kind: str, folder: Path, dtype: torch.dtype = torch.float32) -> Any:
    """Write such a folder; returns the model as transformers has it, in evaluation mode."""
    tokenizer, make = KINDS[kind]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = make(len(tokenizer())).to(dtype).eval()
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return model
