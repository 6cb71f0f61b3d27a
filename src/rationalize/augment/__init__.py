"""Copy annotated examples with other words in place of their shortcuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.augment.copies import make_copies as make_copies

_HOMES = {
    "make_copies": "copies",
}
__all__ = [
    "make_copies",
]
__getattr__ = open_room(__name__, _HOMES)
