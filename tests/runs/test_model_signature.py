"""Signed model folders: by this key, over this very model, or refused."""

from __future__ import annotations

import shutil

import pytest

from helpers import tiny_model
from rationalize.errors import ConfigError, ModelFormatError
from rationalize.files import write_manifest
from rationalize.rationalizer import Rationalizer
from rationalize.runs.model_folder import load_model, save_model


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Two pairs of key files."""
    pytest.importorskip("cryptography", reason="needs the extra `sign`")
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    folder = tmp_path_factory.mktemp("keys")
    for name in ("own", "other"):
        key = Ed25519PrivateKey.generate()
        (folder / name).write_bytes(
            key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
        )
        (folder / f"{name}.pub").write_bytes(
            key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
        )
    return folder


@pytest.fixture
def signed(keys, tmp_path):
    save_model(tmp_path / "model", tiny_model(), "", sign=keys / "own")
    return tmp_path / "model"


def test_a_signed_model_is_loaded_by_those_who_trust_the_key_and_by_those_who_do_not_ask(signed, keys):
    load_model(signed)
    load_model(signed, trust=keys / "own.pub")
    assert Rationalizer.from_pretrained(signed, trust=(keys / "own.pub").read_bytes()).labels == (
        "NEG",
        "POS",
    )


def test_another_key_another_manifest_or_no_signature_are_refused(signed, keys, tmp_path):
    with pytest.raises(ModelFormatError, match="not a signature of this model"):
        load_model(signed, trust=keys / "other.pub")
    changed = shutil.copytree(signed, tmp_path / "changed")
    (changed / "README.md").write_text("changed, and the manifest made to fit")
    (changed / "SIGNATURE").unlink()
    write_manifest(changed)
    load_model(changed)
    with pytest.raises(ModelFormatError, match="is not signed"):
        load_model(changed, trust=keys / "own.pub")
    shutil.copy(signed / "SIGNATURE", changed)
    with pytest.raises(ModelFormatError, match="not a signature of this model"):
        load_model(changed, trust=keys / "own.pub")


def test_what_is_no_key_is_refused(signed, keys, tmp_path):
    for key in (keys / "own", keys / "gone", b"nonsense"):
        with pytest.raises(ConfigError, match=r"^trust: "):
            load_model(signed, trust=key)
    with pytest.raises(ConfigError, match=r"^sign: "):
        save_model(tmp_path / "other", tiny_model(), "", sign=keys / "own.pub")
    assert not (tmp_path / "other").exists()


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cryptography", None)
    with pytest.raises(ConfigError, match=r"pip install 'rationalize\[sign\]'"):
        save_model(tmp_path / "model", tiny_model(), "", sign=b"key")
