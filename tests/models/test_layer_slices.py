"""Reading some layers of an encoder: the same numbers as in a whole reading, and nothing above is run."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from transformers import ElectraConfig, ElectraModel

from helpers import tiny_encoders
from local_encoders import save_local
from rationalize.config import EncoderConfig
from rationalize.models.encoder import EncoderFactory
from rationalize.models.tokenizer import load_tokenizer
from rationalize.models.transformer_encoder import TransformerEncoder


def make_electra():
    """Its embeddings are narrower than its layers, and projected."""
    shape = {"embedding_size": 16, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2}
    config = ElectraConfig(vocab_size=400, intermediate_size=64, max_position_embeddings=64, **shape)
    return TransformerEncoder(ElectraModel(config), "mean", mask_id=4, pad_id=0)


@pytest.fixture(params=["tiny", "roberta", "electra"])
def encoder(request, tmp_path):
    torch.manual_seed(0)
    if request.param == "tiny":
        return tiny_encoders(layers=3, pooling="cls").make().eval()
    if request.param == "electra":
        return make_electra().eval()
    save_local("roberta", tmp_path)
    tokenizer = load_tokenizer(str(tmp_path))
    return EncoderFactory(EncoderConfig(name=str(tmp_path), max_tokens=64), tokenizer).make().eval()


@torch.no_grad()
def test_a_reading_in_two_parts_is_the_whole_to_the_bit(encoder, batch):
    whole = encoder.read(batch)
    every = encoder.model(
        inputs_embeds=encoder.embed(batch.input_ids),
        attention_mask=batch.attention.long(),
        output_hidden_states=True,
        **({"token_type_ids": batch.token_types} if encoder.takes_types else {}),
    ).hidden_states
    assert len(every) == encoder.depth + 1
    for layers in range(1, encoder.depth + 1):
        hidden, end = encoder.read_past(batch, layers)
        assert torch.equal(hidden, every[layers])
        assert torch.equal(hidden, encoder.read_to(batch, layers))
        assert torch.equal(end.hidden, whole.hidden)
        assert torch.equal(end.pooled, whole.pooled)


def test_gradients_of_a_reading_in_two_parts_are_those_of_the_whole(batch):
    encoder = tiny_encoders(layers=3, dropout=0.1).make().train()
    found = []
    for read in (encoder.read, lambda batch: encoder.read_past(batch, 2)[1]):
        torch.manual_seed(1)  # dropout
        read(batch).pooled.square().sum().backward()
        found.append([weight.grad.clone() for weight in encoder.parameters()])
        encoder.zero_grad()
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_layers_above_are_neither_run_nor_moved(batch):
    encoder = tiny_encoders(layers=3).make()
    first, second, third = encoder.model.encoder.layer
    second.register_forward_hook(lambda *_: pytest.fail("a layer above was run"))
    encoder.read_to(batch, 1).sum().backward()
    assert all(weight.grad is not None for weight in first.parameters())
    assert all(weight.grad is None for layer in (second, third) for weight in layer.parameters())


@torch.no_grad()
def test_a_copy_reads_with_its_own_layers(batch):
    encoder = tiny_encoders(layers=2).make().eval()
    before = encoder.read_to(batch, 1)
    copied = deepcopy(encoder)
    for weight in encoder.parameters():
        weight.zero_()
    assert torch.equal(copied.read_to(batch, 1), before)
    assert [*copied.state_dict()] == [*encoder.state_dict()]
