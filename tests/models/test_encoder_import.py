"""A known encoder from its carrier (here a tiny one): found, checked, converted, compared, stored."""

from __future__ import annotations

import sys
import tarfile
from dataclasses import replace

import pytest
import torch

from onnx_bert import LAYERS, POSITIONS, make_bert, save_carrier
from rationalize.config import EncoderConfig
from rationalize.errors import EncoderError
from rationalize.files import read_json, sha256_of
from rationalize.models import encoder_import
from rationalize.models.encoder import EncoderFactory
from rationalize.models.encoder_import import get_encoder
from rationalize.models.known_encoders import KNOWN, WEIGHTS, locate_stored
from rationalize.models.tokenizer import load_tokenizer

FILES = tuple(KNOWN["gte_small"].files)


@pytest.fixture(scope="module")
def carried(tmp_path_factory):
    """A carrier's unpacked folder, and the model inside as transformers has it."""
    pytest.importorskip("onnx", reason="needs the extra onnx")
    folder = tmp_path_factory.mktemp("carrier") / "package"
    return folder, save_carrier(folder / "dist" / "gte-small")


@pytest.fixture
def known(carried, monkeypatch, tmp_path):
    """The tiny carrier in the place of the real one, and an empty cache."""
    folder, model = carried
    monkeypatch.setenv("RATIONALIZE_CACHE", str(tmp_path / "cache"))
    expect(monkeypatch, folder)
    return folder, model


def expect(monkeypatch, folder):
    digests = {name: sha256_of(folder / "dist" / "gte-small" / name) for name in FILES}
    monkeypatch.setitem(KNOWN, "gte_small", replace(KNOWN["gte_small"], layers=LAYERS, files=digests))


def make_encoder(**settings):
    config = EncoderConfig(name="gte_small", max_tokens=POSITIONS, **settings)
    return EncoderFactory(config, load_tokenizer("gte_small")).make().eval()


def test_the_weights_arrive_bit_for_bit(known):
    folder, original = known
    stored = get_encoder("gte_small", folder)
    assert stored.fetched
    assert stored.folder == locate_stored("gte_small")
    loaded = make_encoder().model.state_dict()
    assert loaded.keys() == original.state_dict().keys()
    assert all(torch.equal(each, loaded[name]) for name, each in original.state_dict().items())
    assert read_json(stored.folder / "SOURCE.json")["license"] == "MIT"


def test_outputs_are_compared_with_the_original_file(known):
    pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    stored = get_encoder("gte_small", known[0])
    assert stored.difference is not None
    assert stored.difference < 1e-5


def test_without_onnxruntime_nothing_is_compared(known, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert get_encoder("gte_small", known[0]).difference is None


def test_other_outputs_are_not_stored(known, monkeypatch):
    pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    real = encoder_import.read_bert_weights

    def swap(path):
        weights = real(path)
        names = [f"encoder.layer.0.attention.self.{part}.weight" for part in ("query", "value")]
        return {**weights, names[0]: weights[names[1]], names[1]: weights[names[0]]}

    monkeypatch.setattr(encoder_import, "read_bert_weights", swap)
    with pytest.raises(
        EncoderError, match=r"vectors differ from the original's by up to .* Nothing was stored"
    ):
        get_encoder("gte_small", known[0])
    assert not locate_stored("gte_small").exists()


def test_an_archive_is_read_like_its_folder(known, tmp_path, monkeypatch):
    archive = tmp_path / KNOWN["gte_small"].archive
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(known[0], "package")
    monkeypatch.chdir(tmp_path)
    assert get_encoder("gte_small").fetched  # found in the current folder
    assert not get_encoder("gte_small").fetched
    assert get_encoder("gte_small", archive, force=True).fetched


def test_known_encoders_are_pooled_without_a_pooler(known):
    get_encoder("gte_small", known[0])
    assert make_encoder().pooling == "mean"
    assert not make_encoder(pooling="cls").has_pooler
    assert make_encoder(keep_layers=1).model.config.num_hidden_layers == 1


def test_the_tokenizer_neither_cuts_nor_pads(known, tmp_path, monkeypatch):
    """A carrier's may: real ones cut and pad to 128 pieces."""
    from tokenizers import Tokenizer

    copy = tmp_path / "package"
    save_carrier(copy / "dist" / "gte-small")
    path = copy / "dist" / "gte-small" / "tokenizer.json"
    core = Tokenizer.from_file(str(path))
    core.enable_truncation(5)
    core.enable_padding(length=5)
    core.save(str(path))
    expect(monkeypatch, copy)
    stored = get_encoder("gte_small", copy)
    core = Tokenizer.from_file(str(stored.folder / "tokenizer.json"))
    assert (core.truncation, core.padding) == (None, None)


@pytest.mark.parametrize("name", FILES)
def test_another_file_than_the_known_one_is_refused(known, monkeypatch, name):
    files = {**KNOWN["gte_small"].files, name: "0" * 64}
    monkeypatch.setitem(KNOWN, "gte_small", replace(KNOWN["gte_small"], files=files))
    with pytest.raises(EncoderError, match=rf"{name} has SHA-256 \w+, expected 0000.*Nothing was stored"):
        get_encoder("gte_small", known[0])
    assert not locate_stored("gte_small").exists()


def test_quantized_weights_are_refused(known, monkeypatch):
    import numpy as np
    import onnx

    model = onnx.load(known[0] / "dist" / "gte-small" / WEIGHTS)
    matrix = next(each for each in model.graph.initializer if "MatMul" in each.name)
    matrix.CopyFrom(onnx.numpy_helper.from_array(np.zeros(matrix.dims, np.int8), matrix.name))
    monkeypatch.setattr(onnx, "load", lambda path: model)
    with pytest.raises(EncoderError, match=r"type INT8, expected FLOAT.*single-precision"):
        get_encoder("gte_small", known[0])


def test_a_graph_that_lacks_weights_is_refused(known, monkeypatch):
    real = encoder_import.read_bert_weights
    lost = "encoder.layer.1.output.dense.weight"
    monkeypatch.setattr(
        encoder_import,
        "read_bert_weights",
        lambda path: {name: each for name, each in real(path).items() if name != lost},
    )
    with pytest.raises(EncoderError, match=rf"1 of \d+ weights .* for instance {lost}"):
        get_encoder("gte_small", known[0])


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("RATIONALIZE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EncoderError, match=r"no such file or folder: alvix-\S+ or node_modules"):
        get_encoder("gte_small")
    with pytest.raises(EncoderError, match="no such file or folder: nowhere"):
        get_encoder("gte_small", tmp_path.__class__("nowhere"))
    with pytest.raises(EncoderError, match=r"has no gte-small/onnx/model.onnx"):
        get_encoder("gte_small", tmp_path)


def test_without_onnx_its_extra_is_named(monkeypatch, tmp_path):
    from rationalize.models._onnx_bert import read_bert_weights

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(EncoderError, match=r"pip install 'rationalize\[onnx\]'"):
        read_bert_weights(tmp_path / "model.onnx")


def test_the_made_up_bert_is_no_trivial_one():
    """Else a wrong conversion could pass: every weight is random, the layers differ."""
    weights = make_bert(50).state_dict()
    first, second = (weights[f"encoder.layer.{number}.attention.self.key.weight"] for number in range(2))
    assert not torch.allclose(first, second)
    assert all(each.std() > 0 for each in weights.values())
