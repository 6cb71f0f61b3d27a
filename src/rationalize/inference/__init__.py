"""Explain texts with a model: the engine, text and word vectors, retrieval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.inference.engine import Engine as Engine
    from rationalize.inference.engine import Explained as Explained
    from rationalize.inference.retrieval import VectorStore as VectorStore
    from rationalize.inference.vectors import Represented as Represented
    from rationalize.inference.vectors import represent as represent

_HOMES = {
    "Engine": "engine",
    "Explained": "engine",
    "Represented": "vectors",
    "VectorStore": "retrieval",
    "represent": "vectors",
}
__all__ = [
    "Engine",
    "Explained",
    "Represented",
    "VectorStore",
    "represent",
]
__getattr__ = open_room(__name__, _HOMES)
