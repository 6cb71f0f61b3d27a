"""Names of shards: which files are parts of one split, and in which order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

_WILDCARD = re.compile(r"[*?\[]")
_SHARD = re.compile(r"(?P<name>.*?[^-_.])?[-_.]+(?P<number>\d+)(?:-of-(?P<of>\d+))?")
_DIGITS = 3  # in the number of a shard in a folder: `posts-001`, but `round-2` and `round-3` are two splits


def is_pattern(name: str) -> bool:
    """Return whether a name has wildcards: `*`, `?` or `[...]`."""
    return _WILDCARD.search(name) is not None


def sort_shards(names: Iterable[str]) -> list[str]:
    """Sort names by the numbers in them: `posts-2` comes before `posts-10`."""
    return sorted(names, key=lambda name: [(not part.isdigit(), part.zfill(20)) for part in _cut(name)])


def name_pattern(pattern: str) -> str:
    """Return the name of what a pattern matches: what stands before its first wildcard, or its folder."""
    path = PurePosixPath(pattern.replace("\\", "/"))
    first = next(part for part in path.parts if is_pattern(part))
    name = _WILDCARD.split(first)[0].rstrip("-_.")
    above = [part for part in path.parts[: path.parts.index(first)] if part.strip("/")]
    return name or (above[-1] if above else "data")


def strip_number(stem: str) -> str:
    """Return a file's name without the number of its shard: `train` for `train-00001-of-00004`."""
    found = _SHARD.fullmatch(stem)
    return (found and found["name"]) or stem


def find_shards(names: Collection[str]) -> dict[str, str]:
    """Find the files of a folder that are shards; return the name of what each is a part of.

    Shards say of how many they are one (`train-00000-of-00004`), or are numbered from 0 or 1 on with the same number
    of digits, at least three (`posts-001`): files of different years are not taken for shards.
    """
    numbered: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    shards: dict[str, str] = {}
    for name in names:
        found = _SHARD.fullmatch(PurePosixPath(name).stem)
        if found is None or not found["name"]:
            continue
        if found["of"]:
            shards[name] = found["name"]
        elif len(found["number"]) >= _DIGITS:
            numbered[found["name"], len(found["number"])][name] = int(found["number"])
    for (whole, _), numbers in numbered.items():
        if min(numbers.values()) <= 1:
            shards |= dict.fromkeys(numbers, whole)
    return shards


def find_missing(names: Iterable[str]) -> tuple[str, int, int] | None:
    """Find a shard that others speak of, as `train-00000-of-00002` does of another.

    Returns its name, how many are there, and how many there should be; None: all are there. Shards are counted
    from 0, unless one has the number of all.
    """
    present: dict[tuple[str, int], dict[int, tuple[str, re.Match[str]]]] = defaultdict(dict)
    for name in names:
        found = _SHARD.fullmatch(PurePosixPath(name).stem)
        if found and found["name"] and found["of"]:
            present[found["name"], int(found["of"])][int(found["number"])] = name, found
    for (_, total), numbers in present.items():
        first = 1 if total in numbers else 0
        gone = next((number for number in range(first, first + total) if number not in numbers), None)
        if gone is not None:
            name, like = next(iter(numbers.values()))
            number = str(gone).zfill(len(like["number"]))
            missing = name[: like.start("number")] + number + name[like.end("number") :]
            return missing, len(numbers), total
    return None


def add_siblings(chosen: Collection[str], names: Collection[str]) -> list[str]:
    """Return the chosen files and the other shards of the same: one that is broken must not be passed over."""
    shards = find_shards(names)
    wholes = {shards[name] for name in chosen if name in shards}
    return [name for name in names if name in chosen or shards.get(name) in wholes]


def _cut(name: str) -> list[str]:
    return [part for part in re.split(r"(\d+)", name) if part]
