"""Linear layers in bfloat16: near single precision, forward and backward, and nothing else is touched."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rationalize.models._linear_mode import MultiplyBy
from rationalize.models._packed_layers import pack_layers
from rationalize.models.encoder_pass import PassSettings, run_pass, set_passes
from rationalize.models.half_products import LEAST_ROWS, has_fast_bf16, multiply_half


def gradients(layer, vectors, *, half):
    vectors = vectors.clone().requires_grad_()
    layer.zero_grad()
    if half:
        with MultiplyBy(multiply_half):
            out = layer(vectors)
    else:
        out = layer(vectors)
    out.sin().sum().backward()
    return out.detach(), vectors.grad, layer.weight.grad, layer.bias.grad


def test_product_and_gradients_are_those_of_single_precision_but_for_rounding():
    torch.manual_seed(0)
    layer, vectors = nn.Linear(48, 32), torch.randn(4, 10, 48)
    for exact, rounded in zip(
        gradients(layer, vectors, half=False), gradients(layer, vectors, half=True), strict=True
    ):
        assert rounded.dtype == torch.float32
        assert not torch.equal(exact, rounded)
        torch.testing.assert_close(rounded, exact, rtol=0.05, atol=0.05)


def test_gradient_is_exact_where_numbers_need_no_rounding():
    # Small whole numbers are bfloat16 numbers, and so are their sums here.
    vectors = torch.randint(-3, 4, (LEAST_ROWS, 8)).float().requires_grad_()
    weight = torch.randint(-3, 4, (5, 8)).float().requires_grad_()
    upstream = torch.randint(-2, 3, (LEAST_ROWS, 5)).float()
    multiply_half(vectors, weight).backward(upstream)
    assert torch.equal(vectors.grad, upstream @ weight.detach())
    assert torch.equal(weight.grad, upstream.T @ vectors.detach())


@pytest.mark.parametrize("vectors", [torch.randn(LEAST_ROWS - 1, 8), torch.randn(64, 8, dtype=torch.float64)])
def test_few_vectors_and_double_precision_are_left_alone(vectors):
    layer = nn.Linear(8, 8, dtype=vectors.dtype)
    with MultiplyBy(multiply_half):
        assert torch.equal(layer(vectors), nn.functional.linear(vectors, layer.weight, layer.bias))


def test_frozen_weights_get_no_gradient():
    weight = torch.randn(4, 8)
    vectors = torch.randn(LEAST_ROWS, 8, requires_grad=True)
    multiply_half(vectors, weight).sum().backward()
    assert weight.grad is None
    assert vectors.grad is not None


@pytest.mark.parametrize("compiled", [False, True])
def test_a_pass_on_a_cpu_rounds_products_alone_unless_layers_are_compiled(compiled):
    def read(vectors):
        return torch.is_autocast_enabled("cpu")

    with set_passes(PassSettings(precision="bf16", compiled=compiled)):
        assert run_pass(read, torch.ones(1)) is compiled


def test_a_torch_that_cannot_be_asked_has_no_fast_products(monkeypatch):
    assert has_fast_bf16() in {True, False}
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.delattr(torch.cpu, name, raising=False)
    assert not has_fast_bf16()


@pytest.mark.parametrize("frozen", [False, True])
def test_a_processor_without_the_instructions_gives_the_same_numbers(monkeypatch, frozen):
    torch.manual_seed(1)
    layer, vectors = nn.Linear(300, 256), torch.randn(4, 20, 300)
    found = []
    for fast in (True, False):
        monkeypatch.setattr("rationalize.models.half_products.has_fast_bf16", lambda fast=fast: fast)
        monkeypatch.setattr("rationalize.models._packed_layers.has_fast_bf16", lambda fast=fast: fast)
        if frozen:
            with torch.no_grad():
                twin = pack_layers(nn.Sequential(layer), torch.bfloat16)
                found.append([twin(vectors)])
        else:
            found.append(gradients(layer, vectors, half=True))
    for native, emulated in zip(*found, strict=True):
        # Sums in another order: now and then the neighboring bfloat16 number.
        torch.testing.assert_close(emulated, native, rtol=2**-7, atol=1e-3)
        assert (emulated == native).float().mean() > 0.95
