"""The pair of selector and predictor: who reads how often, and who shares what."""

from __future__ import annotations

import pytest
import torch

from helpers import tiny_encoders, tiny_model
from rationalize.errors import ModelFormatError
from rationalize.models.rationale_net import RationaleNet
from rationalize.models.weights import collect_weights, load_weights


def counted(net):
    """How often each encoder of the net has run so far."""
    calls = {"predictor": 0, "selector": 0}

    def count(name):
        def hook(*_):
            calls[name] += 1

        return hook

    net.encoder.register_forward_hook(count("predictor"))
    if not net.shared:
        net.selector_encoder.register_forward_hook(count("selector"))
    return calls


@pytest.mark.parametrize(("shared", "expected"), [(True, (1, 0)), (False, (1, 1))])
def test_a_shared_encoder_reads_the_full_text_once(batch, shared, expected):
    net = RationaleNet(tiny_encoders(), 2, shared=shared)
    calls = counted(net)
    select_logits, class_logits = net.read(batch)
    assert (calls["predictor"], calls["selector"]) == expected
    assert select_logits.shape == (*batch.input_ids.shape, 2)
    assert class_logits.shape == (len(batch), 2)


@pytest.mark.parametrize(("shared", "passes"), [(True, 2), (False, 3)])
def test_an_explanation_costs_one_more_pass(batch, shared, passes):
    model = tiny_model("un_rat", selection={"shared_encoder": shared})
    calls = counted(model.method.net)
    model.method.explain(batch)
    assert sum(calls.values()) == passes


def test_select_alone_does_not_touch_the_predictor(batch):
    net = RationaleNet(tiny_encoders(), 2, shared=False).eval()
    calls = counted(net)
    assert torch.equal(net.select(batch), net.read(batch)[0])
    assert calls == {"predictor": 1, "selector": 2}


def test_separate_encoders_keep_the_losses_apart(batch):
    net = RationaleNet(tiny_encoders(), 2, shared=False)
    net.predict(batch, batch.selectable).sum().backward()
    assert all(each.grad is None for each in net.selector_encoder.parameters())
    assert any(each.grad is not None for each in net.encoder.parameters())


def test_bool_and_float_masks_are_the_same(batch):
    net = RationaleNet(tiny_encoders(), 3).eval()
    mask = batch.selectable & (batch.words % 2 == 0)
    assert torch.equal(net.predict(batch, mask), net.predict(batch, mask.float()))
    assert net.predict(batch, mask).shape == (len(batch), 3)


@pytest.mark.parametrize("shared", [True, False])
def test_weights_go_out_and_in_again(batch, shared):
    torch.manual_seed(1)
    first, second = (RationaleNet(tiny_encoders(), 2, shared=shared).eval() for _ in range(2))
    mask = batch.selectable & (batch.words % 2 == 0)
    assert not torch.equal(first.predict(batch, mask), second.predict(batch, mask))
    saved = {name: tensor.clone() for name, tensor in collect_weights(first).items()}
    load_weights(second, saved, "here")
    assert torch.equal(first.predict(batch, mask), second.predict(batch, mask))
    assert torch.equal(first.select(batch), second.select(batch))
    assert (second.encoder is second.selector_encoder) == shared


def test_a_shared_encoder_is_listed_once():
    shared, apart = (RationaleNet(tiny_encoders(), 2, shared=each) for each in (True, False))
    pointers = [tensor.data_ptr() for tensor in collect_weights(shared).values()]
    assert len(pointers) == len(set(pointers))
    assert not any(name.startswith("selector_encoder") for name in collect_weights(shared))
    assert any(name.startswith("selector_encoder") for name in collect_weights(apart))
    n_encoder = sum(name.startswith("encoder.") for name in collect_weights(apart))
    assert len(collect_weights(apart)) == len(collect_weights(shared)) + n_encoder


def test_weights_that_do_not_fit_are_refused():
    net = RationaleNet(tiny_encoders(), 2)
    weights = collect_weights(net)
    missing = {name: tensor for name, tensor in weights.items() if name != "class_head.bias"}
    with pytest.raises(ModelFormatError, match=r"file\.x: .*Missing: \['class_head.bias'\]; unknown: none"):
        load_weights(net, missing, "file.x")
    with pytest.raises(ModelFormatError, match=r"unknown: \['more'\]"):
        load_weights(net, {**weights, "more": torch.zeros(1)}, "file.x")
    with pytest.raises(ModelFormatError, match=r"class_head.bias has shape \(3,\), expected \(2,\)"):
        load_weights(net, {**weights, "class_head.bias": torch.zeros(3)}, "file.x")


@torch.no_grad()
def test_a_shallow_selection_is_the_same_alone_and_beside_the_label(batch):
    net = RationaleNet(tiny_encoders(layers=3), 2, layers=1).eval()
    selected, label = net.read(batch)
    assert torch.equal(selected, net.select(batch))
    assert torch.equal(label, net.classify(batch))
    assert not torch.equal(selected, net.select_head(net.encoder.read(batch).hidden))


def test_a_shallow_selector_of_its_own_has_no_other_layers():
    net = RationaleNet(tiny_encoders(layers=3), 2, shared=False, layers=1)
    assert (net.encoder.depth, net.selector_encoder.depth) == (3, 1)
    layers = {
        name.split(".")[4] for name in net.state_dict() if name.startswith("selector_encoder.model.encoder")
    }
    assert layers == {"0"}
