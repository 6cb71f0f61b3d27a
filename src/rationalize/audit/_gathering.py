"""Gather the documents of an audit: labeled ones, each text once per label; in memory, or on disk if they are many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

from rationalize.audit._stored_documents import keep_rows, write_shards
from rationalize.data.dataset import list_labels
from rationalize.errors import DataError
from rationalize.shortcuts.phrases import Ints
from rationalize.shortcuts.shard_arrays import ShardArrays
from rationalize.shortcuts.word_corpus import DocumentShards, hold_documents
from rationalize.types import Example


@dataclass(frozen=True)
class Gathered:
    """Documents to audit.

    Attributes:
        documents: The documents.
        labels: Index of each document's label.
        names: The labels.
        notes: What was left out.
        arrays: Where to keep what is found about them.
    """

    documents: DocumentShards
    labels: Ints
    names: tuple[str, ...]
    notes: tuple[str, ...]
    arrays: ShardArrays


def gather(examples: Iterable[Example], name: str, most_held: int, folder: Path) -> Gathered:
    """Keep the labeled examples, each text once per label: the first.

    Args:
        examples: Read once.
        name: A name for the data.
        most_held: Examples that are kept in memory; if there are more, all are written to the folder.
        folder: An empty folder.

    Raises:
        DataError: If fewer than two labels occur.
    """
    rest = iter(examples)
    held = list(islice(rest, most_held + 1))
    if len(held) <= most_held:
        return _hold(held, name)
    return _store(chain(_empty(held), rest), name, folder)


def _hold(examples: Sequence[Example], name: str) -> Gathered:
    labeled = [example for example in examples if example.label is not None]
    distinct: dict[tuple[str, str | None], Example] = {}
    for example in labeled:
        distinct.setdefault((example.text, example.label), example)
    kept = list(distinct.values())
    names = _require_labels(list_labels(kept), name)
    return Gathered(
        documents=hold_documents(kept),
        labels=np.array([names.index(str(example.label)) for example in kept]),
        names=names,
        notes=_note(len(examples) - len(labeled), len(labeled) - len(kept)),
        arrays=ShardArrays(),
    )


def _store(examples: Iterable[Example], name: str, folder: Path) -> Gathered:
    unlabeled = 0

    def list_labeled() -> Iterator[Example]:
        nonlocal unlabeled
        for example in examples:
            if example.label is None:
                unlabeled += 1
            else:
                yield example

    numbers: dict[str, int] = {}
    shards = list(write_shards(list_labeled(), folder, numbers))
    names = _require_labels(tuple(sorted(numbers)), name)
    digests = np.concatenate([shard.digests for shard in shards])
    kept = np.zeros(len(digests), dtype=bool)
    kept[np.unique(digests, return_index=True)[1]] = True
    ranks = np.array([names.index(each) for each in numbers])
    return Gathered(
        documents=keep_rows(folder, [len(shard.labels) for shard in shards], kept),
        labels=ranks[np.concatenate([shard.labels for shard in shards])[kept]],
        names=names,
        notes=_note(unlabeled, int((~kept).sum())),
        arrays=ShardArrays(folder),
    )


def _empty(held: list[Example]) -> Iterator[Example]:
    """Yield examples, and hold none that was yielded."""
    held.reverse()
    while held:
        yield held.pop()


def _require_labels(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    if len(names) < 2:
        raise DataError(
            f"{name or 'audit'}: saw {len(names)} label(s) ({', '.join(names) or 'none'}), expected at least two. "
            "A shortcut separates labels; give a split with several labels."
        )
    return names


def _note(unlabeled: int, repeated: int) -> tuple[str, ...]:
    left_out = {"without a label": unlabeled, "that repeat a text with the same label": repeated}
    return tuple(f"Examples {what} were left out: {count}." for what, count in left_out.items() if count)
