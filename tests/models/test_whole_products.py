"""Products of single precision by oneDNN: the same numbers and gradients, and only where torch's own are slow."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from rationalize.models import _whole_products, encoder_pass
from rationalize.models._linear_mode import MultiplyBy
from rationalize.models._whole_products import LEAST_WEIGHTS, has_packed_products, multiply_whole
from rationalize.models.encoder_pass import PassSettings, run_pass, set_passes

needs_onednn = pytest.mark.skipif(
    not has_packed_products(torch.float32), reason="this torch does not multiply by oneDNN"
)


def gradients(layer, vectors, multiply):
    vectors = vectors.clone().requires_grad_()
    layer.zero_grad()
    with MultiplyBy(multiply):
        out = layer(vectors)
    out.sin().sum().backward()
    return out.detach(), vectors.grad, *(each.grad for each in layer.parameters())


@needs_onednn
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(4, 10, 256), (7, 256)])
def test_product_and_gradients_are_those_of_torch(shape, bias):
    torch.manual_seed(0)
    layer, vectors = nn.Linear(256, LEAST_WEIGHTS // 256, bias=bias), torch.randn(shape)
    for plain, found in zip(
        gradients(layer, vectors, F.linear), gradients(layer, vectors, multiply_whole), strict=True
    ):
        torch.testing.assert_close(found, plain, rtol=1e-4, atol=1e-4)


@needs_onednn
def test_gradients_have_gradients():
    torch.manual_seed(0)
    weight = (torch.randn(LEAST_WEIGHTS // 256, 256) / 16).requires_grad_()
    vectors = torch.randn(3, 256, requires_grad=True)
    found = []
    for multiply in (F.linear, multiply_whole):
        (slope,) = torch.autograd.grad(
            multiply(vectors, weight, None).sin().sum(), vectors, create_graph=True
        )
        found.append(torch.autograd.grad(slope.square().sum(), (vectors, weight)))
    for plain, other in zip(*found, strict=True):
        torch.testing.assert_close(other, plain, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("width", "dtype"), [(8, torch.float32), (256, torch.float64)])
def test_small_matrices_and_double_precision_are_left_alone(monkeypatch, width, dtype):
    monkeypatch.setattr(_whole_products, "multiply_onednn", None)
    layer, vectors = nn.Linear(width, 256, dtype=dtype), torch.randn(5, width, dtype=dtype)
    with MultiplyBy(multiply_whole):
        assert torch.equal(layer(vectors), F.linear(vectors, layer.weight, layer.bias))


@needs_onednn
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (PassSettings(), True),
        (PassSettings(compiled=True), False),
        (PassSettings(fixed=True), False),
        (PassSettings(precision="bf16"), False),
    ],
)
def test_a_training_in_single_precision_multiplies_so_where_torch_is_slow(monkeypatch, settings, expected):
    asked = []

    def listen(*given):
        asked.append(given)
        return F.linear(*given)

    monkeypatch.setattr(encoder_pass, "multiply_whole", listen)
    layer = nn.Linear(256, 256)
    for slow in (True, False):
        monkeypatch.setattr(encoder_pass, "has_slow_products", lambda slow=slow: slow)
        asked.clear()
        with set_passes(settings):
            run_pass(layer, torch.randn(2, 256))
        assert bool(asked) is (slow and expected)


@pytest.mark.parametrize(
    ("facts", "capability", "expected"),
    [
        ("vendor_id\t: AuthenticAMD\n", "AVX512", True),
        ("vendor_id\t: GenuineIntel\n", "AVX512", False),
        ("vendor_id\t: AuthenticAMD\n", "AVX2", False),
    ],
)
def test_torch_is_slow_with_wide_instructions_of_another_maker(
    monkeypatch, tmp_path, facts, capability, expected
):
    place = tmp_path / "cpuinfo"
    place.write_text(facts, encoding="utf-8")
    monkeypatch.setattr(_whole_products, "CPU_FACTS", place)
    monkeypatch.setattr(_whole_products, "has_packed_products", lambda dtype: True)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert _whole_products.has_slow_products.__wrapped__() is expected


def test_a_system_without_a_file_of_facts_is_asked_otherwise(monkeypatch, tmp_path):
    monkeypatch.setattr(_whole_products, "CPU_FACTS", tmp_path / "none")
    monkeypatch.setattr(_whole_products.platform, "processor", lambda: "Intel64 Family 6, GenuineIntel")
    monkeypatch.setattr(_whole_products, "has_packed_products", lambda dtype: True)
    assert not _whole_products.has_slow_products.__wrapped__()
