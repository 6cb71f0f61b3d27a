"""Map between word pieces, words and characters, and cut long documents into windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.text.batch import Batch as Batch
    from rationalize.text.batch import InputRow as InputRow
    from rationalize.text.batch import collate as collate
    from rationalize.text.windows import Encoded as Encoded
    from rationalize.text.windows import TextEncoder as TextEncoder
    from rationalize.text.windows import Window as Window
    from rationalize.text.words import WordRule as WordRule
    from rationalize.text.words import mask_spans as mask_spans
    from rationalize.text.words import word_mask as word_mask
    from rationalize.text.words import word_spans as word_spans

_HOMES = {
    "Batch": "batch",
    "Encoded": "windows",
    "InputRow": "batch",
    "TextEncoder": "windows",
    "Window": "windows",
    "WordRule": "words",
    "collate": "batch",
    "mask_spans": "words",
    "word_mask": "words",
    "word_spans": "words",
}
__all__ = [
    "Batch",
    "Encoded",
    "InputRow",
    "TextEncoder",
    "Window",
    "WordRule",
    "collate",
    "mask_spans",
    "word_mask",
    "word_spans",
]
__getattr__ = open_room(__name__, _HOMES)
