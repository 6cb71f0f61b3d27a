"""The precision in which encoders multiply when they explain."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import get_args

from rationalize.config import Precision
from rationalize.errors import ConfigError
from rationalize.methods.base import Method
from rationalize.models.encoder_pass import PassSettings, set_passes
from rationalize.models.onnx_encoder import OnnxEncoder


def check_precision(precision: str, method: Method) -> None:
    """Refuse a precision that is not known, or that graphs do not have."""
    if precision not in get_args(Precision):
        raise ConfigError(
            f"precision: got {precision!r}, expected one of {', '.join(get_args(Precision))}.",
            field="precision",
        )
    if precision != "fp32" and any(isinstance(module, OnnxEncoder) for module in method.modules()):
        raise ConfigError(
            f"precision: {precision}, but this model is exported and multiplies as its graph says. Leave it out, "
            "or use the model that it was made from; `rationalize export --int8` makes a faster graph.",
            field="precision",
        )


def set_precision(precision: Precision) -> AbstractContextManager[None]:
    """Let encoders multiply in this precision inside the block, by weights that do not change."""
    return set_passes(PassSettings(precision=precision, fixed=True))
