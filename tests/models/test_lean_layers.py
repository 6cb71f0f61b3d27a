"""Explaining without transformers' own overhead: the same numbers, weights and hooks, wherever that is possible."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from torch import nn
from transformers import (
    BertConfig,
    BertModel,
    CamembertConfig,
    CamembertModel,
    ElectraConfig,
    ElectraModel,
    GPT2Config,
    GPT2Model,
    RobertaConfig,
    RobertaModel,
    XLMRobertaConfig,
    XLMRobertaModel,
)

from rationalize.models._lean_layers import LeanLayer, LeanModel, make_lean
from rationalize.models.encoder_pass import PassSettings, set_passes
from rationalize.models.transformer_encoder import TransformerEncoder

SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "vocab_size": 60,
}
KINDS = {
    "bert": (BertModel, BertConfig, {}),
    "electra": (ElectraModel, ElectraConfig, {"embedding_size": 16}),
    "roberta": (RobertaModel, RobertaConfig, {"type_vocab_size": 1}),
    "xlm-roberta": (XLMRobertaModel, XLMRobertaConfig, {}),
    "camembert": (CamembertModel, CamembertConfig, {"hidden_act": "relu"}),
}


@pytest.fixture(params=KINDS)
def model(request):
    kind, config, own = KINDS[request.param]
    torch.manual_seed(0)
    return kind(config(**SHAPE, max_position_embeddings=40, **own)).eval()


def draw_input(encoder, padded):
    ids = torch.randint(5, 60, (3, 11))
    attention = torch.ones(3, 11, dtype=torch.bool)
    if padded:
        attention[1, 7:] = False
    return encoder.embed(ids), attention, torch.zeros(3, 11, dtype=torch.long)


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
@torch.no_grad()
def test_it_computes_what_the_model_computes(model, padded, pooling):
    encoder = TransformerEncoder(model, pooling, mask_id=4, pad_id=0).eval()
    embedded, attention, types = draw_input(encoder, padded)
    places = torch.arange(2, 13).expand(3, -1)
    for given in (attention, attention.float(), attention.float().clamp(min=0.3)):
        for positions in (None, places):
            whole = encoder(embedded, given, types, positions)
            with set_passes(PassSettings(fixed=True)):
                lean = encoder(embedded, given, types, positions)
            rows = given[..., None] > 0  # what padding says is nobody's business
            torch.testing.assert_close(lean.hidden * rows, whole.hidden * rows, rtol=0, atol=2e-6)
            torch.testing.assert_close(lean.pooled, whole.pooled, rtol=0, atol=2e-6)


@torch.no_grad()
def test_every_layer_is_run_once_and_its_hooks_are_called(model):
    lean, seen = make_lean(model), []
    assert isinstance(lean, LeanModel)
    assert all(isinstance(layer, LeanLayer) for layer in lean.encoder.layer)
    for number, layer in enumerate(model.encoder.layer):
        layer.register_forward_hook(lambda _, inputs, out, number=number: seen.append((number, out.shape)))
    lean(
        inputs_embeds=torch.randn(
            2, 5, model.config.embedding_size if hasattr(model, "embeddings_project") else 32
        ),
        attention_mask=torch.ones(2, 5),
    )
    assert seen == [(number, (2, 5, 32)) for number in range(3)]


@torch.no_grad()
def test_it_follows_the_model(model):
    encoder = TransformerEncoder(model, "mean", mask_id=4, pad_id=0).eval()
    given = draw_input(encoder, padded=True)

    def read():
        with set_passes(PassSettings(fixed=True)):
            return encoder(*given).pooled

    before = read()
    model.encoder.layer[1].output.dense.weight.mul_(2)
    changed = read()
    assert not torch.equal(before, changed)
    model.encoder.layer = nn.ModuleList(list(model.encoder.layer)[:2])
    torch.testing.assert_close(read(), encoder(*given).pooled, rtol=0, atol=2e-6)


def test_where_something_else_is_wanted_the_model_stays_as_it_is(model):
    assert make_lean(model) is not model
    model.set_attn_implementation("eager")  # it returns its weights
    assert make_lean(model) is model
    model.set_attn_implementation("sdpa")
    assert make_lean(model.train()) is model  # dropout
    decoder = GPT2Model(GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=60)).eval()
    assert make_lean(decoder) is decoder


def test_gradients_go_through_the_model_itself(model):
    encoder = TransformerEncoder(model, "mean", mask_id=4, pad_id=0).eval()
    embedded, *others = draw_input(encoder, padded=True)
    found = []
    for settings in (PassSettings(), PassSettings(fixed=True)):
        given = embedded.detach().clone().requires_grad_()
        with set_passes(settings):
            encoder(given, *others).pooled.sum().backward()
        found.append(given.grad)
    torch.testing.assert_close(found[0], found[1])


def test_a_model_that_is_gone_is_not_kept():
    model = BertModel(BertConfig(**SHAPE)).eval()
    make_lean(model)
    seen = weakref.ref(model)
    del model
    gc.collect()
    assert seen() is None
