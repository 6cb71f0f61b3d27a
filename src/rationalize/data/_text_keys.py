"""What splitting needs to know of every row, in some bytes each: enough to split any number of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rationalize.data._dealing import PARTS, Label, deal_groups, fold_text, rank_label
from rationalize.data._digest_set import digest_text
from rationalize.seeding import derive_seed
from rationalize.types import Example

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class TextKeys:
    """Rows as numbers.

    Attributes:
        labels: The labels, none first.
        codes: For each row, the number of its label.
        groups: For each row, a number that rows share whose texts say the same.
        texts: For each row, a number of its text.
        seeds: For each row, the seed that its text is shuffled by.
    """

    labels: tuple[Label, ...]
    codes: Ints
    groups: Ints
    texts: Ints
    seeds: Ints


def read_keys(examples: Iterable[Example], seed: int = 0) -> TextKeys:
    """Read the keys of all rows."""
    import numpy as np

    numbers: dict[Label, int] = {}
    raw = bytearray()
    for example in examples:
        code = numbers.setdefault(example.label, len(numbers))
        raw += code.to_bytes(8, "little") + digest_text(fold_text(example.text))[:8]
        raw += digest_text(example.text)[:8]
        raw += derive_seed(seed, "split", example.text).to_bytes(8, "little")
    codes, groups, texts, seeds = np.frombuffer(raw, dtype=np.int64).reshape(-1, 4).T
    labels = tuple(sorted(numbers, key=rank_label))
    ranks = np.array([labels.index(label) for label in numbers], dtype=np.int64)
    return TextKeys(labels, ranks[codes], groups.copy(), texts.copy(), seeds.copy())


def assign_parts(examples: Collection[Example], keys: TextKeys, *, seed: int = 0, **shares: float) -> Ints:
    """Return the number of each row's part among train, dev and test, as `make_splits` puts it."""
    import numpy as np

    _, firsts, inverse, sizes = np.unique(
        keys.groups, return_index=True, return_inverse=True, return_counts=True
    )
    labels, seeds = keys.codes[firsts], keys.seeds[firsts]
    np.minimum.at(labels, inverse, keys.codes)
    for group, text in _find_names(examples, keys, inverse, firsts).items():
        seeds[group] = derive_seed(seed, "split", text)
    order = np.lexsort((seeds, labels))
    own = {label: order[labels[order] == code] for code, label in enumerate(keys.labels)}
    dealt = deal_groups({label: sizes[groups].tolist() for label, groups in own.items()}, **shares)
    parts = np.zeros(len(sizes), dtype=np.int64)
    for label, groups in own.items():
        parts[groups] = [PARTS.index(part) for part in dealt[label]]
    return parts[inverse]


def _find_names(
    examples: Collection[Example], keys: TextKeys, inverse: Ints, firsts: Ints
) -> Mapping[int, str]:
    """Find the first text, in the alphabet, of the groups whose texts differ."""
    import numpy as np

    mixed = set(np.unique(inverse[keys.texts != keys.texts[firsts][inverse]]).tolist())
    names: dict[int, str] = {}
    if mixed:
        for group, example in zip(inverse.tolist(), examples, strict=True):
            if group in mixed:
                names[group] = min(names.get(group, example.text), example.text)
    return names
