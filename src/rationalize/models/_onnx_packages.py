"""The packages of the extra `onnx`, or the advice to install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rationalize.errors import ConfigError


def require_package(name: str) -> Any:
    """Import onnx, onnxruntime or a part of them.

    Raises:
        ConfigError: If it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the package {error.name} is missing, which exported models need. Install it: "
            "pip install 'rationalize[onnx]'"
        ) from None
