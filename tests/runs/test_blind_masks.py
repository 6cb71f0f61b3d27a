"""Encoders under which hidden words have no gradient are noticed, and only those."""

from __future__ import annotations

import pytest

from helpers import tiny_model
from local_encoders import save_local
from rationalize.config import EncoderConfig, RunConfig
from rationalize.models.encoder import EncoderFactory
from rationalize.models.tokenizer import load_tokenizer
from rationalize.runs._blind_masks import describe_blind_masks
from rationalize.runs.model_folder import build_method
from rationalize.runs.settings import resolve_config


@pytest.mark.parametrize(
    ("kind", "pooling", "masking", "sampler", "blind"),
    [
        ("mpnet", "cls", "attention", "gumbel_hard", True),
        ("mpnet", "mean", "attention", "gumbel_hard", False),
        ("mpnet", "cls", "mix", "gumbel_hard", False),
        ("mpnet", "cls", "attention", "gumbel_soft", False),
        ("roberta", "cls", "attention", "gumbel_hard", False),
    ],
)
def test_only_hard_attention_masks_of_encoders_without_gates_are_blind(
    tmp_path, kind, pooling, masking, sampler, blind
):
    save_local(kind, tmp_path)
    encoder = EncoderConfig(name=str(tmp_path), max_tokens=32, pooling=pooling)
    options = {"selection": {"masking": masking, "sampler": sampler}}
    config = resolve_config(RunConfig(method="un_rat", encoder=encoder, options=options))
    described = tiny_model("un_rat").config.model_copy(update={"encoder": encoder, "options": config.options})
    method = build_method(described, EncoderFactory(encoder, load_tokenizer(str(tmp_path))))
    found = describe_blind_masks(config, method)
    assert [("mpnet" in each, "options.selection.masking=mix" in each) for each in found] == [
        (True, True)
    ] * blind
