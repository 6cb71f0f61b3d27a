"""Selective rationalization: a label together with the words of the input that support it.

Names are loaded on first use, so that `import rationalize` costs next to nothing.

    import rationalize as rz

    data = rz.load("movies.tar.gz")
    model = rz.Rationalizer("ssr_unif", preset="small", augment="semantic").fit(data)
    print(model.explain("a gripping film from start to end"))
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rationalize.types import Document, Example, Explanation, Span
from rationalize.version import __version__

if TYPE_CHECKING:
    from rationalize.audit.whole_audit import audit_data as audit
    from rationalize.comparison.comparison import compare
    from rationalize.data.dataset import DataSet
    from rationalize.data.source import load
    from rationalize.errors import RationalizeError
    from rationalize.evaluation.evaluation import Evaluation
    from rationalize.methods.registry import list_methods as methods
    from rationalize.rationalizer import Rationalizer

_HOMES = {
    "DataSet": "data.dataset",
    "Evaluation": "evaluation.evaluation",
    "RationalizeError": "errors",
    "Rationalizer": "rationalizer",
    "compare": "comparison.comparison",
    "load": "data.source",
}
_VERB_ROOMS = ("audit", "methods")  # rooms that can be called, see `_rooms`

__all__ = [
    "DataSet",
    "Document",
    "Evaluation",
    "Example",
    "Explanation",
    "RationalizeError",
    "Rationalizer",
    "Span",
    "__version__",
    "audit",
    "compare",
    "load",
    "methods",
]


def __getattr__(name: str) -> Any:
    if name in _VERB_ROOMS:
        return import_module(f"rationalize.{name}")
    if name in _HOMES:
        return getattr(import_module(f"rationalize.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rationalize' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def _renderer(name: str) -> Callable[[Explanation], Any]:
    return lambda explanation: getattr(import_module("rationalize.reporting.highlight"), name)(explanation)


Explanation.renderers.update(html=_renderer("explanation_html"), rich=_renderer("explanation_text"))
