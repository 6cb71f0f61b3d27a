"""Compiled layers learn what others learn, and are themselves again afterwards."""

from __future__ import annotations

import pytest
import torch
from toys import trainer

from helpers import tiny_model
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.training import _compiling


def layers_of(method):
    found = [each for each in method.modules() if isinstance(each, TransformerEncoder)]
    return [layer for encoder in found for layer in encoder.model.encoder.layer]


def learn(folder, *, compiled):
    method = tiny_model("un_rat", encoder={"hidden_size": 16, "dropout": 0.0}, selection={"layers": 1}).method
    trainer(method, folder, n=4, learning_rate=1e-3, compile=compiled).run(resume=False)
    return method


@pytest.mark.slow  # tracing takes seconds
def test_compiled_training_is_the_same_training(tmp_path, monkeypatch):
    monkeypatch.setattr(_compiling, "BACKEND", "aot_eager")  # needs no compiler
    seen = []
    monkeypatch.setattr(torch.nn.Module, "compile", _record(torch.nn.Module.compile, seen), raising=True)
    plain, compiled = learn(tmp_path / "a", compiled=False), learn(tmp_path / "b", compiled=True)
    assert len(seen) == len(layers_of(compiled))
    for (name, one), (other_name, other) in zip(
        plain.state_dict().items(), compiled.state_dict().items(), strict=True
    ):
        assert name == other_name
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    assert not [layer for layer in layers_of(compiled) if layer._compiled_call_impl is not None]


def _record(compile_it, seen):
    def record(self, *arguments, **settings):
        seen.append(self)
        return compile_it(self, *arguments, **settings)

    return record


@pytest.mark.slow
def test_layers_are_compiled_inside_the_block_only_and_only_if_wanted(monkeypatch):
    method = tiny_model("un_rat").method
    with _compiling.compile_encoders(method, wanted=False):
        assert all(layer._compiled_call_impl is None for layer in layers_of(method))
    with _compiling.compile_encoders(method):
        assert all(layer._compiled_call_impl is not None for layer in layers_of(method))
    assert all(layer._compiled_call_impl is None for layer in layers_of(method))
