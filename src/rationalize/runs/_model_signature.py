"""Signatures of model folders: a manifest proves that a model is whole, a signature proves whose it is.

Ed25519, through the package `cryptography` (`pip install 'rationalize[sign]'`). Signed is `MANIFEST.json`, which holds
the hash of every other file.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

from rationalize.errors import ConfigError, ModelFormatError
from rationalize.files import MANIFEST

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNATURE = "SIGNATURE"
PURPOSE = b"rationalize model folder 1\n"
"""Before the manifest, so that a signature made for something else is none of a model."""
Key = str | Path | bytes
"""A file with a key in PEM, or its content."""


def sign_folder(folder: Path, key: Key) -> None:
    """Sign a folder's manifest with a private key."""
    signature = _read_private(key).sign(PURPOSE + (folder / MANIFEST).read_bytes())
    (folder / SIGNATURE).write_bytes(base64.b64encode(signature) + b"\n")


def check_signature(folder: Path, key: Key) -> None:
    """Refuse a folder that the owner of a public key did not sign.

    Raises:
        ModelFormatError: If there is no signature, or not by this key over this manifest.
    """
    public, path = _read_public(key), folder / SIGNATURE
    from cryptography.exceptions import InvalidSignature

    if not path.is_file() or not (folder / MANIFEST).is_file():
        raise ModelFormatError(
            f"{folder}: is not signed (no {SIGNATURE}), but a signature was asked for.", field="trust"
        )
    try:
        signature = base64.b64decode(path.read_bytes()[:200], validate=False)
        public.verify(signature, PURPOSE + (folder / MANIFEST).read_bytes())
    except (InvalidSignature, ValueError):
        raise ModelFormatError(
            f"{path}: not a signature of this model by the trusted key. Do not use the model; ask where it is from.",
            field="trust",
        ) from None


def _read_private(key: Key) -> Ed25519PrivateKey:
    content = _read_pem(key, "sign")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        found = load_pem_private_key(content, password=None)
    except (ValueError, TypeError) as error:
        raise ConfigError("sign: not an unencrypted private key in PEM.", field="sign") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise ConfigError(
            f"sign: a key of another kind ({type(found).__name__}), expected Ed25519.", field="sign"
        )
    return found


def _read_public(key: Key) -> Ed25519PublicKey:
    content = _read_pem(key, "trust")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        found = load_pem_public_key(content)
    except ValueError as error:
        raise ConfigError("trust: not a public key in PEM.", field="trust") from error
    if not isinstance(found, Ed25519PublicKey):
        raise ConfigError(
            f"trust: a key of another kind ({type(found).__name__}), expected Ed25519.", field="trust"
        )
    return found


def _read_pem(key: Key, field: str) -> bytes:
    try:
        import cryptography  # noqa: F401
    except ModuleNotFoundError:
        raise ConfigError(
            f"{field}: signatures need the package cryptography: pip install 'rationalize[sign]'", field=field
        ) from None
    if isinstance(key, bytes):
        return key
    try:
        return Path(key).read_bytes()
    except OSError as error:
        raise ConfigError(f"{field}: {key}: cannot be read: {error.strerror}.", field=field) from None
