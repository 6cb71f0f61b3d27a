"""Which archive to expect, and why: given by the user, pinned here, or fetched before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rationalize.errors import ConfigError, DataError

# Of the archives at their official address, as TensorFlow Datasets and Hugging Face Datasets recorded them
# independently of each other (3,899,487 and 1,667,550 bytes). Nobody recorded the other archives.
PINNED = {
    "movies": "66e18d4e6c9df9e9f5544572b0bfe92a39673f74ecbfc3859b46cedb2f5b2dee",
    "multirc": "7d3364fad630d0949b40cc5c4b9fd7fac0ec9ebb3a31ffa92a491e3883edd826",
}


@dataclass(frozen=True, slots=True)
class Expectation:
    """The SHA-256 that an archive must have.

    Attributes:
        sha256: None: none is known; any archive is accepted, and its SHA-256 recorded.
        trust: Where it comes from: "given" by the user, "pinned" in the package, "as before" (what the same address
            gave last time), "first use", or "own file".
    """

    sha256: str | None
    trust: str

    def check(self, shown: str, seen: str, *, downloaded: bool) -> None:
        """Refuse an archive with another SHA-256."""
        if self.sha256 in (None, seen):
            return
        why = {
            "given": "expected",
            "pinned": "the official archive has",
            "as before": "the one fetched from there before had",
        }[self.trust]
        removed = "; the download was removed" if downloaded else ""
        raise DataError(
            f"{shown}: the SHA-256 is {seen}, {why} {self.sha256}. Nothing was unpacked{removed}. "
            "Check the source. To take an archive that you know to be right, give its SHA-256 (sha256).",
            field="sha256",
        )


def expect(
    address: str | None, given: str | None, pinned: str | None, earlier: Mapping[str, Any]
) -> Expectation:
    """Decide which SHA-256 an archive must have.

    Args:
        address: Where it is fetched from, without secrets; None: it is a file of the user's.
        given: What the user expects.
        pinned: What the package knows.
        earlier: The record of the folder that is being replaced.
    """
    if given is not None:
        return Expectation(given, "given")
    if address is None:
        return Expectation(None, "own file")
    if pinned is not None:
        return Expectation(pinned, "pinned")
    known = earlier.get("sha256")
    if isinstance(known, str) and _strip_scheme(earlier.get("source")) == _strip_scheme(address):
        return Expectation(known, "as before")
    return Expectation(None, "first use")


def _strip_scheme(address: object) -> str:
    """Return an address without its scheme: with or without encryption, it names the same archive."""
    return re.sub(r"^https?://", "", str(address))


def check_sha256(sha256: str | None) -> str | None:
    """Return a given SHA-256 in lower case; refuse anything else."""
    if sha256 is None:
        return None
    if not re.fullmatch(r"[0-9a-fA-F]{64}", sha256.strip()):
        raise ConfigError(f"sha256 {sha256[:100]!r}: expected 64 hexadecimal digits.", field="sha256")
    return sha256.strip().lower()
