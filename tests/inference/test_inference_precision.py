"""Explaining by weights that are laid out once: as by the plain ones, or rounded and near them."""

from __future__ import annotations

import gc
import threading
from copy import deepcopy

import pytest
import torch

from helpers import tiny_corpus, tiny_model
from rationalize.errors import ConfigError
from rationalize.methods.registry import list_names
from rationalize.models import _packed_layers
from rationalize.models.onnx_encoder import OnnxEncoder, OnnxExport


def explain(model, precision, n=6):
    return [item.explanation for item in model.engine(precision=precision).explain(tiny_corpus(n))]


def get_scores(found):
    return torch.tensor([value for each in found for value in (*each.scores, *each.probabilities.values())])


@pytest.fixture
def rounded(monkeypatch):
    """Counts the weights that are rounded."""
    made: list[torch.nn.Module] = []
    look_at = _packed_layers._Seen.look_at

    def count(layer, name):
        made.append(layer)
        return look_at(layer, name)

    monkeypatch.setattr(_packed_layers._Seen, "look_at", count)
    return made


@pytest.mark.parametrize("method", list_names())
def test_every_method_explains_nearly_the_same_in_half_precision(method):
    """Also those that look at gradients."""
    model = tiny_model(method)
    exact, half = get_scores(explain(model, "fp32")), get_scores(explain(model, "bf16"))
    torch.testing.assert_close(half, exact, rtol=0, atol=0.2)


@pytest.fixture(autouse=True)
def pack_small_matrices(monkeypatch):
    monkeypatch.setattr(_packed_layers, "LEAST_WEIGHTS", 0)


@pytest.fixture
def unpacked(monkeypatch):
    """Makes torch one that knows no laid out weights."""
    monkeypatch.setattr(_packed_layers, "has_packed_products", lambda dtype: False)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("layers", [1, None])
def test_weights_that_are_laid_out_give_what_plain_ones_give(precision, layers, request):
    model = tiny_model("un_rat", selection={"masking": "attention", "layers": layers})
    packed = get_scores(explain(model, precision))
    request.getfixturevalue("unpacked")
    plain = get_scores(explain(deepcopy(model), precision))
    torch.testing.assert_close(packed, plain, rtol=0, atol=1e-5 if precision == "fp32" else 0.02)


@pytest.mark.skipif(
    not _packed_layers.has_packed_products(torch.float32), reason="this torch lays out no weights"
)
def test_layers_are_packed_and_their_activation_is_part_of_the_product():
    model = tiny_model("un_rat").method.net.encoder.model
    layer = _packed_layers.pack_layers(model, torch.float32).encoder.layer[0]
    assert layer.intermediate.dense.activates
    assert isinstance(layer.intermediate.intermediate_act_fn, torch.nn.Identity)
    assert not layer.output.dense.activates
    vectors = torch.randn(5, 7, model.config.hidden_size)
    with torch.no_grad():
        found, wanted = (each(vectors) for each in (layer.intermediate, model.encoder.layer[0].intermediate))
        torch.testing.assert_close(found, wanted)
        assert torch.equal(layer.intermediate(vectors[2:3]), found[2:3])  # whatever the other rows are


@pytest.mark.skipif(
    not _packed_layers.has_packed_products(torch.float32), reason="this torch lays out no weights"
)
def test_another_activation_stays_where_it_is():
    model = tiny_model("un_rat").method.net.encoder.model
    plain = model.encoder.layer[0].intermediate
    plain.intermediate_act_fn = torch.nn.Tanh()
    packed = _packed_layers.pack_layers(model, torch.float32).encoder.layer[0].intermediate
    assert packed.intermediate_act_fn is plain.intermediate_act_fn
    vectors = torch.randn(5, model.config.hidden_size)
    with torch.no_grad():
        torch.testing.assert_close(packed(vectors), plain(vectors))


def test_small_matrices_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(_packed_layers, "LEAST_WEIGHTS", 2**16)
    model = tiny_model("un_rat").method.net.encoder.model
    assert _packed_layers.pack_layers(model, torch.float32) is model


@pytest.mark.parametrize("attribution", ["gradient_x_input", "attention"])
def test_gradients_are_those_of_rounded_products(attribution):
    model = tiny_model("full_text", attribution=attribution)
    exact, half = get_scores(explain(model, "fp32")), get_scores(explain(model, "bf16"))
    assert not torch.equal(half, exact)
    torch.testing.assert_close(half, exact, rtol=0.1, atol=0.1)
    assert torch.equal(get_scores(explain(model, "fp32")), exact)


@pytest.mark.parametrize("layers", [1, None])
def test_weights_are_rounded_once_and_the_model_stays_as_it_is(rounded, layers):
    model = tiny_model("un_rat", selection={"masking": "attention", "layers": layers})
    before, names = explain(model, "fp32"), list(model.method.state_dict())
    rounded.clear()
    first = explain(model, "bf16")
    once = len(rounded)
    linear = [each for each in model.method.net.encoder.modules() if type(each) is torch.nn.Linear]
    assert once == 2 * len(linear)  # weight and bias
    assert explain(model, "bf16") == first
    assert len(rounded) == once
    assert get_scores(first).tolist() != get_scores(before).tolist()
    assert explain(model, "fp32") == before
    assert list(model.method.state_dict()) == names


def scale(weight):
    with torch.no_grad():
        weight.mul_(3)


def exchange(weight):
    weight.data = 3 * weight.data


def exchange_twice(weight):
    """The second place may be the first one."""
    weight.data = 2 * weight.data
    weight.data = 1.5 * weight.data


@pytest.mark.parametrize("change", [scale, exchange, exchange_twice])
@pytest.mark.parametrize("name", ["weight", "bias"])
def test_changed_weights_are_rounded_again(change, name):
    model = tiny_model("un_rat")
    dense = model.method.net.encoder.model.encoder.layer[0].output.dense
    torch.nn.init.normal_(dense.bias)
    explain(model, "bf16")
    change(getattr(dense, name))
    fresh = deepcopy(model.method)
    assert _packed_layers._twins[torch.bfloat16].get(fresh.net.encoder.model) is None
    after = get_scores(explain(model, "bf16"))
    model.method.net.encoder.model = fresh.net.encoder.model
    assert torch.equal(get_scores(explain(model, "bf16")), after)


def test_a_twin_goes_with_its_model():
    model = tiny_model("un_rat")
    explain(model, "bf16")
    before = len(_packed_layers._twins[torch.bfloat16])
    del model
    gc.collect()
    assert len(_packed_layers._twins[torch.bfloat16]) < before


def test_threads_get_the_same_answers():
    model = tiny_model("un_rat")
    wanted = get_scores(explain(deepcopy(model), "bf16"))
    found: list[torch.Tensor] = []
    workers = [
        threading.Thread(target=lambda: found.append(get_scores(explain(model, "bf16")))) for _ in range(4)
    ]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert len(found) == 4
    assert all(torch.equal(each, wanted) for each in found)


def test_an_unknown_precision_is_refused():
    with pytest.raises(ConfigError, match="precision: got 'int4', expected one of fp32, bf16"):
        tiny_model("un_rat").engine(precision="int4")


def test_graphs_keep_their_precision():
    model = tiny_model("un_rat")
    described = OnnxExport(
        int8=True, encoders=["net.encoder"], vocabulary=4, embedding_size=2, hidden_size=2, packs=True
    )
    model.method.net.encoder = OnnxEncoder(described)
    with pytest.raises(ConfigError, match="this model is exported"):
        model.engine(precision="bf16")
