"""Cut rows into batches, and pad them to tensors with three separate masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from torch import Tensor

from rationalize.seeding import generator_for
from rationalize.text.windows import Window


@dataclass(frozen=True, slots=True)
class InputRow:
    """One window, and what training may know about it.

    `gold` marks pieces. None: not annotated; all False: annotated, and nothing is to be selected. `more` are the other
    windows of the same text, if training is to see them in other epochs.
    """

    id: str
    window: Window
    label: int = -1
    gold: np.ndarray | None = None
    shortcuts: np.ndarray | None = None
    environment: int = -1
    more: tuple[InputRow, ...] = ()


@dataclass(frozen=True)
class Batch:
    """Rows padded to the longest one. b: rows, n: word pieces.

    The three masks are never mixed up: `attention` (not padding), `selectable` (document pieces),
    `visible` (always shown to the predictor: special tokens and the query).
    """

    input_ids: Tensor  # (b, n) int
    token_types: Tensor  # (b, n) int
    attention: Tensor  # (b, n) bool
    selectable: Tensor  # (b, n) bool
    visible: Tensor  # (b, n) bool
    words: Tensor  # (b, n) int, -1 outside the document
    labels: Tensor  # (b,) int, -1 where unknown
    gold: Tensor  # (b, n) bool, False without gold
    has_gold: Tensor  # (b,) bool, whether it is known which pieces of the row are gold, be it none
    shortcuts: Tensor  # (b, n) bool
    sentences: Tensor  # (b, n) int, -1 outside the document
    environments: Tensor  # (b,) int, -1 if none was inferred

    def __len__(self) -> int:
        return len(self.input_ids)

    def to(self, device: torch.device | str) -> Batch:
        """Return the batch on another device; Python does not wait for a copy to a GPU."""
        if torch.device(device).type == "cuda":  # only pinned memory is copied while Python goes on
            return self._map(lambda tensor: tensor.pin_memory().to(device, non_blocking=True))
        return self._map(lambda tensor: tensor.to(device))

    def rows(self, index: Tensor | slice) -> Batch:
        """Return some of the rows."""
        return self._map(lambda tensor: tensor[index])

    def _map(self, change: Callable[[Tensor], Tensor]) -> Batch:
        return replace(self, **{field.name: change(getattr(self, field.name)) for field in fields(self)})


def collate(rows: Sequence[InputRow], pad_id: int) -> Batch:
    """Pad rows to the longest one and stack them."""
    length = max(len(row.window) for row in rows)

    def stack(arrays: Sequence[np.ndarray], fill: int | bool) -> Tensor:
        out = np.full((len(arrays), length), fill, dtype=arrays[0].dtype)
        for target, array in zip(out, arrays, strict=True):
            target[: len(array)] = array
        return torch.from_numpy(out)

    def stack_marks(name: str) -> Tensor:
        found = [getattr(row, name) for row in rows]
        return stack([np.zeros(1, dtype=bool) if mark is None else mark for mark in found], False)

    windows = [row.window for row in rows]
    attention = stack([np.ones(len(window), dtype=bool) for window in windows], False)
    selectable = stack([window.selectable for window in windows], False)
    gold = stack_marks("gold") & selectable
    return Batch(
        input_ids=stack([window.input_ids for window in windows], pad_id),
        token_types=stack([window.token_types for window in windows], 0),
        attention=attention,
        selectable=selectable,
        visible=attention & ~selectable,
        words=stack([window.words for window in windows], -1),
        labels=torch.tensor([row.label for row in rows], device="cpu"),
        gold=gold,
        has_gold=torch.tensor([row.gold is not None for row in rows], device="cpu"),
        shortcuts=stack_marks("shortcuts") & selectable,
        sentences=stack([window.sentences for window in windows], -1),
        environments=torch.tensor([row.environment for row in rows], device="cpu"),
    )


def cut_batches(
    lengths: Sequence[int],
    batch_size: int | None,
    batch_tokens: int | None = None,
    *,
    padding: float | None = None,
    least: int = 0,
) -> list[list[int]]:
    """Group indexes by length, longest first, into batches within limits that are given.

    Args:
        lengths: The rows' lengths.
        batch_size: Most rows of a batch.
        batch_tokens: Most tokens, padding included; a row that is longer is alone.
        padding: Largest share of a batch's tokens that is padding.
        least: Tokens up to which a batch may have more padding: reading few at a time costs more than padding.
    """
    batches: list[list[int]] = []
    filled = 0  # tokens of the last batch without padding
    for index in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        rows = len(batches[-1]) + 1 if batches else 1
        # The first row of a batch is its longest, so every row costs that many tokens.
        tokens = rows * lengths[batches[-1][0]] if batches else 0
        if (
            batches
            and (batch_size is None or rows <= batch_size)
            and (batch_tokens is None or tokens <= batch_tokens)
            and (padding is None or tokens <= least or tokens - filled - lengths[index] <= padding * tokens)
        ):
            batches[-1].append(index)
            filled += lengths[index]
        else:
            batches.append([index])
            filled = lengths[index]
    return batches


def shuffle_batches(
    lengths: Sequence[int], batch_size: int, batch_tokens: int | None, seed: int, *purpose: str | int
) -> list[list[int]]:
    """Make one epoch's batches: shuffled, but with rows of similar length, drawn from pools of a few dozen batches."""
    order = _shuffle(len(lengths), seed, "order", *purpose)
    pool = 32 * batch_size
    batches: list[list[int]] = []
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        batches += [
            [part[i] for i in batch]
            for batch in cut_batches([lengths[i] for i in part], batch_size, batch_tokens)
        ]
    return [batches[i] for i in _shuffle(len(batches), seed, "batches", *purpose)]


def _shuffle(n: int, seed: int, *purpose: str | int) -> list[int]:
    drawn: list[int] = torch.randperm(n, generator=generator_for(seed, *purpose), device="cpu").tolist()
    return drawn
