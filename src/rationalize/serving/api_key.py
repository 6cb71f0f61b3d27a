"""Read and compare the API key."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from rationalize.errors import ConfigError

VARIABLE = "RATIONALIZE_API_KEY"
SHORTEST = 16
SCHEME = b"bearer "


def read_api_key(file: Path | None, environment: Mapping[str, str]) -> SecretStr | None:
    """Read the key from a file, or else from the environment; None without either. No message shows it."""
    if file is not None:
        try:
            return _check_key(file.read_text(encoding="utf-8").strip(), str(file))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{file}: the API key cannot be read ({type(error).__name__}). Expected a text file with the key."
            ) from None
    given = environment.get(VARIABLE)
    return None if given is None else _check_key(given.strip(), f"environment variable {VARIABLE}")


def _check_key(key: str, where: str) -> SecretStr:
    if len(key) < SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            f"{where}: not usable as an API key. Expected one line of at least {SHORTEST} printable ASCII "
            "characters without spaces, for instance from `openssl rand -hex 24`."
        )
    return SecretStr(key)


def is_authorized(key: SecretStr, header: bytes | None) -> bool:
    """Return whether an `Authorization` header has the key, in constant time."""
    header = header or b""
    given = header[len(SCHEME) :].strip() if header[: len(SCHEME)].lower() == SCHEME else b""
    return hmac.compare_digest(key.get_secret_value().encode(), given)
