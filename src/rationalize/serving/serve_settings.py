"""Settings of the service: where it listens, who may call it, and its limits."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, SecretStr, model_validator

from rationalize.config import Precision, Strict
from rationalize.errors import ConfigError
from rationalize.serving.api_key import VARIABLE

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")

Count = Annotated[int, Field(gt=0)]


class ServeLimits(Strict):
    """Limits of requests, of the queue, and of time."""

    body_bytes: Count = 2 * 2**20
    """Maximum bytes of a request's body."""
    text_chars: Count = 50_000
    """Maximum characters of a text, and of a query."""
    call_texts: Count = 64
    """Maximum texts per request."""
    queue_texts: Count = 256
    """Maximum waiting texts per model."""
    open_requests: Count = 128
    """Maximum open requests, those still arriving included."""
    request_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """Time limit for a body to arrive, and again for its answer."""
    batch_texts: Count = 32
    """Maximum texts that the model reads together. 1: every text is read alone, which makes answers bit-identical."""
    batch_chars: Count = 65_536
    """Maximum characters that the model reads together; a longer text is read alone."""

    @model_validator(mode="after")
    def _check_queue(self) -> Self:
        if self.call_texts > self.queue_texts:
            raise ConfigError(
                f"limits.call_texts is {self.call_texts}, but limits.queue_texts only {self.queue_texts}: "
                "a full call would never fit. Expected call_texts ≤ queue_texts.",
                field=("limits.call_texts", "limits.queue_texts"),
            )
        return self


class ServeSettings(Strict):
    """Settings of the service. An address that other machines can reach needs an API key."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """Port to listen on. 0: any that is free."""
    api_key: SecretStr | None = None
    """The key that callers must send as `Authorization: Bearer …`."""
    allowed_hosts: tuple[str, ...] = ()
    """Without an API key: further names, besides this machine's, that callers may use for the service."""
    device: str = "auto"
    """Where the models run: auto, cpu, cuda, cuda:1, mps."""
    precision: Precision = "fp32"
    """Of matrix products inside encoders; `bf16` is faster where the machine can, and rounds."""
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    """Processes that serve side by side, each with its own copy of every model, and with limits of its own."""
    trust: Path | None = None
    """File with a public key (PEM): models that its owner did not sign are refused."""
    min_confidence: float | dict[str, float] | None = None
    """The confidence that a label needs, or each of some labels; below it, the label is `abstain`. None: every label is
    given."""
    limits: ServeLimits = ServeLimits()
    """Limits of requests."""

    @model_validator(mode="after")
    def _check_key(self) -> Self:
        if self.api_key is None and not is_loopback(self.host):
            raise ConfigError(
                f"host {self.host!r} can be reached from other machines, but api_key is not set. Expected 127.0.0.1, "
                f"or a key for callers, for instance in the environment variable {VARIABLE}.",
                field=("host", "api_key"),
            )
        return self

    @model_validator(mode="after")
    def _check_confidence(self) -> Self:
        given = self.min_confidence
        for number in given.values() if isinstance(given, dict) else [given or 0.0]:
            if not 0 <= number <= 1:
                raise ConfigError(f"min_confidence: saw {number!r}, expected 0 to 1.", field="min_confidence")
        return self


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
