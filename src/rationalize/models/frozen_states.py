"""What frozen layers make of full texts: computed once per text, kept in a file that is mapped into memory.

A file belongs to the weights that made it and to the inputs it holds; its name is a digest of both. Rows are found by
their word pieces, so it does not matter in which batch or order they come.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rationalize.files import atomic_path
from rationalize.text.batch import Batch, InputRow, collate, cut_batches
from rationalize.text.windows import Window

BATCH_TOKENS = 2048
PADDING = 0.05
Key = bytes


@dataclass(frozen=True)
class FrozenStates:
    """Vectors of the frozen layers' last one, for every piece of the texts that were read.

    Attributes:
        layers: How many layers made them.
        values: (pieces of all texts, width), one text after the other.
        places: Where each text begins.
    """

    layers: int
    values: NDArray[np.float32]
    places: Mapping[Key, int]

    def __deepcopy__(self, memo: object) -> FrozenStates:
        return self  # a copied encoder has the same frozen layers

    def find(self, batch: Batch) -> Tensor | None:
        """Return the vectors of a batch (b, n, d), 0 at padding; None if one of its texts is not among them."""
        ids, types = batch.input_ids.cpu().numpy(), batch.token_types.cpu().numpy()
        lengths = batch.attention.sum(-1).tolist()
        keys = [make_key(ids[i, :n], types[i, :n]) for i, n in enumerate(lengths)]
        starts = [self.places.get(key) for key in keys]
        found = np.zeros((*ids.shape, self.values.shape[1]), dtype=np.float32)
        for row, start, length in zip(found, starts, lengths, strict=True):
            if start is None:
                return None
            row[:length] = self.values[start : start + length]
        return torch.from_numpy(found).to(batch.input_ids.device, non_blocking=True)


def make_key(input_ids: NDArray[np.int64], token_types: NDArray[np.int64]) -> Key:
    """Return what a row is found by: the same for the same input."""
    return hashlib.blake2b(input_ids.tobytes() + b"|" + token_types.tobytes(), digest_size=16).digest()


def keep_states(
    folder: Path,
    owner: str,
    windows: Iterable[Window],
    read: Callable[[Batch], Tensor],
    *,
    layers: int,
    width: int,
    pad_id: int,
) -> FrozenStates:
    """Map the file of these windows into memory; make it first if it is missing.

    Args:
        folder: Where files are kept.
        owner: Names the weights and the tokenizer.
        windows: The inputs; equal ones are read once.
        read: Reads a batch through the frozen layers. (b, n, d).
        layers: How many layers that are.
        width: The size d of a vector.
        pad_id: The piece that fills short rows.
    """
    unlike = {make_key(each.input_ids, each.token_types): each for each in windows}
    lengths = [len(each) for each in unlike.values()]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(int).tolist()
    digest = hashlib.sha256(b"".join([owner.encode(), *unlike])).hexdigest()
    path = folder / f"frozen-{digest[:32]}.npy"
    if not path.is_file():
        with atomic_path(path) as part:
            _write(part, list(unlike.values()), starts, read, width, pad_id)
    values = np.load(path, mmap_mode="r", allow_pickle=False)
    return FrozenStates(layers, values, dict(zip(unlike, starts)))


def _write(
    path: Path,
    windows: Sequence[Window],
    starts: Sequence[int],
    read: Callable[[Batch], Tensor],
    width: int,
    pad_id: int,
) -> None:
    values = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(starts[-1], width))
    for indexes in cut_batches([len(each) for each in windows], None, BATCH_TOKENS, padding=PADDING):
        vectors = read(collate([InputRow("", windows[i]) for i in indexes], pad_id)).float().cpu().numpy()
        for index, row in zip(indexes, vectors, strict=True):
            length = len(windows[index])
            values[starts[index] : starts[index] + length] = row[:length]
    values.flush()
