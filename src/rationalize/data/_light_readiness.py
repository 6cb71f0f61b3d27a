"""Whether a run could train on splits that are too many rows for memory: the parts that it would make, in outline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rationalize.data._dealing import PARTS
from rationalize.data._text_keys import TextKeys, assign_parts, read_keys
from rationalize.data.readiness import Parts, describe_held_out, describe_shared, describe_split
from rationalize.data.splits import is_lone
from rationalize.errors import DataError
from rationalize.types import Example

if TYPE_CHECKING:
    from rationalize.data._checks import ReadSplit
    from rationalize.data._text_keys import Bools, Ints

Places = dict[int, str]
"""Where examples are, by `id()`."""


def outline_parts(splits: Sequence[ReadSplit], name: str) -> tuple[Parts, Places]:
    """Return what `choose_parts` would, but of each part only rows without a label and the first of each label.

    That is all that `find_obstacles` looks at.

    Raises:
        DataError: If there is no split to train on.
    """
    import numpy as np

    by_name = {split.name: split for split in splits}
    if is_lone(by_name):
        return _outline_lone(splits[0], name)
    if "train" not in by_name:
        raise DataError(f"{name}: no split 'train' to train on; it has {', '.join(by_name)}.")
    keys = read_keys(by_name["train"].examples)
    if "dev" not in by_name:
        parts = assign_parts(by_name["train"].examples, keys, test=0.0)
        note = describe_held_out(int((parts == PARTS.index("dev")).sum()))
        return _outline_dealt(by_name["train"], keys, parts, (note,))
    train, dev = (
        _outline(by_name[part], [np.ones(len(by_name[part].examples), dtype=bool)])[0]
        for part in ("train", "dev")
    )
    notes = tuple(_note_shared(keys.groups, read_keys(by_name["dev"].examples).groups))
    return _join(train, dev, notes)


def _outline_lone(split: ReadSplit, name: str) -> tuple[Parts, Places]:
    keys = read_keys(split.examples)
    parts = assign_parts(split.examples, keys)
    sizes = {part: int((parts == number).sum()) for number, part in enumerate(PARTS)}
    note = describe_split(name, {part: size for part, size in sizes.items() if size})
    return _outline_dealt(split, keys, parts, (note,))


def _outline_dealt(
    split: ReadSplit, keys: TextKeys, parts: Ints, notes: tuple[str, ...]
) -> tuple[Parts, Places]:
    in_train, in_dev = (parts == PARTS.index(part) for part in ("train", "dev"))
    train, dev = _outline(split, (in_train, in_dev))
    return _join(train, dev, (*notes, *_note_shared(keys.groups[in_train], keys.groups[in_dev])))


def _outline(split: ReadSplit, parts: Sequence[Bools]) -> list[list[tuple[str, Example]]]:
    """List, for each part, its rows without a label, and the first of each label, with their places."""
    found: list[list[tuple[str, Example]]] = [[] for _ in parts]
    seen: list[set[str]] = [set() for _ in parts]
    for number, (place, example) in enumerate(split.with_places()):
        own = next((part for part, chosen in enumerate(parts) if chosen[number]), None)
        if own is not None and (example.label is None or example.label not in seen[own]):
            seen[own].update(() if example.label is None else (example.label,))
            found[own].append((place, Example(example.id, "", example.label)))
    return found


def _note_shared(train: Ints, dev: Ints) -> Iterator[str]:
    import numpy as np

    count = int(np.isin(dev, train).sum())
    if count:
        yield describe_shared(count, len(dev))


def _join(
    train: list[tuple[str, Example]], dev: list[tuple[str, Example]], notes: tuple[str, ...]
) -> tuple[Parts, Places]:
    places = {id(example): place for place, example in (*train, *dev)}
    parts = Parts(tuple(each for _, each in train), tuple(each for _, each in dev), notes)
    return parts, places
