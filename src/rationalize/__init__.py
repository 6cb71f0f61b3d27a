"""Selective rationalization: a label together with the words of the input that support it.

Names are loaded on first use, so that `import rationalize` costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rationalize.types import Explanation
from rationalize.version import __version__

if TYPE_CHECKING:
    from rationalize.errors import RationalizeError
    from rationalize.rationalizer import Rationalizer
    from rationalize.types import Document, Example, Span

_HOMES = {
    "Rationalizer": "rationalize.rationalizer",
    "RationalizeError": "rationalize.errors",
    "Document": "rationalize.types",
    "Example": "rationalize.types",
    "Span": "rationalize.types",
}

__all__ = ["Document", "Example", "Explanation", "RationalizeError", "Rationalizer", "Span", "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'rationalize' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def _renderer(name: str) -> Callable[[Explanation], Any]:
    return lambda explanation: getattr(import_module("rationalize.reporting.highlight"), name)(explanation)


Explanation.renderers.update(html=_renderer("explanation_html"), rich=_renderer("explanation_text"))
