"""Copy annotated examples with other words in place of their shortcuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.augment.copies import augment_examples as augment_examples
    from rationalize.augment.copies import make_copies as make_copies

_HOMES = {
    "augment_examples": "copies",
    "make_copies": "copies",
}
__all__ = [
    "augment_examples",
    "make_copies",
]
__getattr__ = open_room(__name__, _HOMES)
