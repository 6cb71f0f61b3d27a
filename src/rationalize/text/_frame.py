"""What stands around a document in an encoder's input: special pieces and the query.

The Rust tokenizer keeps settings inside (truncation, padding, whether `[SEP]` in a text is text), and transformers
changes them with every call. So texts are read by a copy of its own, which is set up once and then never changed:
any number of threads can use it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_PROBES = ("a", "1", "e", "\u3042", "\u4e00", ".")
_cores: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_copying = threading.Lock()


def copy_core(tokenizer: Any) -> Any:
    """Return a Rust tokenizer that cuts whole texts and takes `[SEP]` in them as text; one copy per tokenizer."""
    from tokenizers import Tokenizer

    with _copying:
        core = _cores.get(tokenizer)
        if core is None:
            core = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
            core.no_truncation()
            core.no_padding()
            core.encode_special_tokens = True
            _cores[tokenizer] = core
        return core


@dataclass(frozen=True, slots=True)
class Frame:
    """The pieces before and after the document's, with their token types, and the token type of the document."""

    before: Ints
    before_types: Ints
    after: Ints
    after_types: Ints
    document_type: int

    def __len__(self) -> int:
        return len(self.before) + len(self.after)


class Framing:
    """How a tokenizer frames a document, alone or after a query; found by framing something."""

    def __init__(self, core: Any) -> None:
        probe = next(
            (each for each in _find_probes(core) if core.encode(each, add_special_tokens=False).ids), ""
        )
        self._alone = core.encode(probe)
        self._pair = core.encode(probe, probe)

    def count_specials(self, *, pair: bool) -> int:
        """Return the number of special pieces."""
        return sum(each is None for each in (self._pair if pair else self._alone).sequence_ids)

    def surround(self, query: Sequence[int] | None) -> Frame:
        """Return the frame of a document, with the pieces of the query if there is one."""
        return _take_frame(self._alone, 0, ()) if query is None else _take_frame(self._pair, 1, query)

    def surround_nothing(self, query: Sequence[int]) -> Frame:
        """Return the frame of a query without a document, which is read as a lone text is."""
        return _take_frame(self._alone, 1, query)


def _take_frame(shown: Any, own: int, query: Sequence[int]) -> Frame:
    """Read the frame off framed probes, of which the one numbered `own` stands for the document."""
    sides: list[list[tuple[int, int]]] = [[], []]
    document_type, at, last = 0, 0, None
    for piece, kind, sequence in zip(shown.ids, shown.type_ids, shown.sequence_ids, strict=True):
        if sequence == own:
            document_type, at = kind, 1
        elif sequence is None:
            sides[at].append((piece, kind))
        elif sequence != last:
            sides[at] += [(each, kind) for each in query]
        last = sequence
    (before, before_types), (after, after_types) = (
        np.array(side, dtype=np.int64).reshape(-1, 2).T for side in sides
    )
    return Frame(before, before_types, after, after_types, document_type)


def _find_probes(core: Any) -> Iterable[str]:
    """Yield short texts, one of which surely has a piece."""
    yield from _PROBES
    yield from core.get_vocab()
