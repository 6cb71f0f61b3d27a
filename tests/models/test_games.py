"""Pieces that games are made of: divergences, the hinge, frozen readings, a classifier."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from helpers import tiny_encoders
from rationalize.models.classifier import Classifier
from rationalize.models.frozen import freeze
from rationalize.models.losses import hinge, js_divergence, kl_divergence
from rationalize.models.samplers import argmax_hard

P = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]], dtype=torch.float64)
Q = torch.tensor([[0.5, 0.25, 0.25], [0.6, 0.3, 0.1]], dtype=torch.float64)


def kl(p, q):
    return sum(a * math.log(a / b) for a, b in zip(p.tolist(), q.tolist(), strict=True))


def test_divergences_are_their_sums():
    rows = list(zip(P, Q, strict=True))
    assert_close(kl_divergence(P.log(), Q.log() + 3).item(), sum(kl(p, q) for p, q in rows) / 2)
    halves = [kl(p, (p + q) / 2) + kl(q, (p + q) / 2) for p, q in rows]
    assert_close(js_divergence(P.log(), Q.log() + 3).item(), sum(halves) / 4)
    assert_close(js_divergence(P.log(), Q.log()), js_divergence(Q.log(), P.log()))


@pytest.mark.parametrize("divergence", [kl_divergence, js_divergence])
def test_divergences_are_0_for_the_same_and_finite_for_the_opposite(divergence):
    sure = torch.tensor([[1e4, -1e4]], requires_grad=True)
    assert divergence(sure, sure.detach()) == 0
    found = divergence(torch.tensor([[-1e4, 1e4]]), sure)
    [gradient] = torch.autograd.grad(found, sure)
    assert found > 0.69
    assert found.isfinite()
    assert gradient.isfinite().all()


def test_the_hinge_is_0_until_the_rival_is_within_the_margin():
    one = torch.tensor(1.0)
    assert [hinge(one, torch.tensor(rival), 0.5).item() for rival in (2.0, 1.5, 1.25, 0.0)] == [
        0,
        0,
        0.25,
        1.5,
    ]


def test_the_noiseless_sampler_is_the_argmax_with_a_soft_gradient():
    logits = torch.tensor([[[0.0, 2.0], [1.0, -1.0]]], requires_grad=True)
    generator = torch.Generator().manual_seed(0)
    mask = argmax_hard(logits, 1.0, generator)
    assert mask.tolist() == [[1.0, 0.0]]
    assert torch.equal(mask, argmax_hard(logits, 1.0, generator))
    [hard], [soft] = (torch.autograd.grad(m.sum(), logits) for m in (mask, logits.softmax(-1)[..., 1]))
    assert_close(hard, soft)


@pytest.mark.parametrize("training", [True, False])
def test_a_frozen_module_has_no_noise_and_no_gradient_and_is_put_back(training):
    module = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).train(training)
    inputs = torch.ones(1, 8)
    with freeze(module):
        seen, again = module(inputs), module(inputs)
    assert torch.equal(seen, again)
    assert not seen.requires_grad
    assert module.training is training
    with pytest.raises(ZeroDivisionError), freeze(module):
        _ = 1 / 0
    assert module.training is training
    assert module(inputs).requires_grad


@torch.no_grad()
def test_a_classifier_that_is_shown_everything_reads_the_full_text(batch):
    classifier = Classifier(tiny_encoders(), 3).eval()
    assert_close(classifier.predict(batch, batch.selectable), classifier.read(batch))
    assert not torch.allclose(classifier.predict(batch, batch.gold), classifier.read(batch))
