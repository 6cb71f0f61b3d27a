"""One file or folder per method: phases, losses and explanation, but no training loop.

`rationalize.methods()` lists them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.methods.base import Losses as Losses
    from rationalize.methods.base import Method as Method
    from rationalize.methods.base import Output as Output
    from rationalize.methods.base import Phase as Phase
    from rationalize.methods.base import Turn as Turn
    from rationalize.methods.base import gold_then_rest as gold_then_rest
    from rationalize.methods.passes import Passes as Passes
    from rationalize.methods.passes import PhasePasses as PhasePasses
    from rationalize.methods.registry import About as About
    from rationalize.methods.registry import list_methods as list_methods
    from rationalize.methods.registry import list_names as list_names
    from rationalize.methods.registry import method_class as method_class
    from rationalize.methods.registry import register as register
    from rationalize.methods.select_predict import ApartGame as ApartGame
    from rationalize.methods.select_predict import SelectionGame as SelectionGame
    from rationalize.methods.select_predict import SelectPredict as SelectPredict

_HOMES = {
    "About": "registry",
    "ApartGame": "select_predict",
    "Losses": "base",
    "Method": "base",
    "Output": "base",
    "Passes": "passes",
    "Phase": "base",
    "PhasePasses": "passes",
    "SelectPredict": "select_predict",
    "SelectionGame": "select_predict",
    "Turn": "base",
    "gold_then_rest": "base",
    "list_methods": "registry",
    "method_class": "registry",
    "list_names": "registry",
    "register": "registry",
}
__all__ = [
    "About",
    "ApartGame",
    "Losses",
    "Method",
    "Output",
    "Passes",
    "Phase",
    "PhasePasses",
    "SelectPredict",
    "SelectionGame",
    "Turn",
    "gold_then_rest",
    "list_methods",
    "list_names",
    "method_class",
    "register",
]
__getattr__ = open_room(__name__, _HOMES, verb="list_methods")
