"""What the service may be set to: where it listens, who may ask, and how much of everything it takes."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Self

from pydantic import Field, SecretStr, model_validator

from rationalize.config import Strict
from rationalize.errors import ConfigError
from rationalize.serving.api_key import VARIABLE

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")

Count = Annotated[int, Field(gt=0)]


class ServeLimits(Strict):
    """How much a request may bring, how much may wait, and how long."""

    body_bytes: Count = 2 * 2**20
    """Bytes of a request's body, counted as they arrive."""
    text_chars: Count = 50_000
    """Characters of one text, and of one query."""
    call_texts: Count = 64
    """Texts of one request."""
    queue_texts: Count = 256
    """Texts that may wait for one model."""
    open_requests: Count = 128
    """Requests that may be open at once, those that still arrive included."""
    request_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """Seconds for a body to arrive, and again for its answer."""
    batch_texts: Count = 32
    """Texts that the model reads together. 1: every text is read alone, to the bit as a call with it alone would."""
    batch_chars: Count = 65_536
    """Characters of the texts that are read together; a longer text is read alone."""

    @model_validator(mode="after")
    def _a_call_fits_the_queue(self) -> Self:
        if self.call_texts > self.queue_texts:
            raise ConfigError(
                f"limits.call_texts is {self.call_texts}, but limits.queue_texts only {self.queue_texts}: "
                "a full call would never be taken. Expected call_texts ≤ queue_texts.",
                field=("limits.call_texts", "limits.queue_texts"),
            )
        return self


class ServeSettings(Strict):
    """All settings of the service. An address that others can reach needs an API key."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """Port to listen on. 0: any that is free."""
    api_key: SecretStr | None = None
    """What callers must send as `Authorization: Bearer …`."""
    allowed_hosts: tuple[str, ...] = ()
    """Names, besides those of this machine, that callers may use for the service when there is no API key."""
    device: str = "auto"
    """Where the models compute: auto, cpu, cuda, cuda:1, mps."""
    limits: ServeLimits = ServeLimits()
    """How much is taken."""

    @model_validator(mode="after")
    def _strangers_need_a_key(self) -> Self:
        if self.api_key is None and not is_loopback(self.host):
            raise ConfigError(
                f"host {self.host!r} can be reached from other machines, and there is no api_key. Expected 127.0.0.1, "
                f"or a key that callers must send; it may be in the environment variable {VARIABLE}.",
                field=("host", "api_key"),
            )
        return self


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
