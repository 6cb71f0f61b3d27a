"""Check whether data can be trained on, by the same rules for `data check` and for runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rationalize.data._dealing import choose_dev_share, fold_text
from rationalize.data._digest_set import digest_text
from rationalize.data.dataset import list_labels, normalize_split
from rationalize.data.held_examples import select_examples
from rationalize.data.splits import is_lone, limit, make_splits
from rationalize.errors import DataError
from rationalize.types import Example

_DROP = "data.drop_unlabeled"
_UNLABELED = f"{_DROP} leaves rows without one out"
Splits = Mapping[str, Sequence[Example]]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason why nothing can be learned from examples.

    Attributes:
        kind: What is wrong, in the same words every time.
        part: `train` or `dev`.
        message: A sentence with what was seen and expected.
        seen: What was found.
        expected: What should be there.
        example: The example at fault, if it is a single one.
        setting: The setting of a run that fixes it, if there is one.
    """

    kind: str
    part: str
    message: str
    seen: str
    expected: str
    example: Example | None = None
    setting: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """The examples for training and for choosing the epoch, and notes on how they were made."""

    train: Sequence[Example]
    dev: Sequence[Example]
    notes: tuple[str, ...] = ()


def choose_parts(
    splits: Splits, name: str, *, train: str = "train", dev: str = "dev", seed: int = 0
) -> Parts:
    """Choose the parts of a data set that a run uses.

    A set that nobody has split is split here, always in the same way, and keeps a test part for later. Without a dev
    split, a part of train is set aside.

    Raises:
        DataError: If there is no such split.
    """
    train, dev = normalize_split(train), normalize_split(dev)
    notes: tuple[str, ...] = ()
    if train == "train" and is_lone(splits):
        (only,) = splits.values()
        splits = make_splits(only)
        notes = (describe_split(name, {part: len(examples) for part, examples in splits.items()}),)
    known = ", ".join(splits)
    if train not in splits:
        raise DataError(f"{name}: no split {train!r} to train on; it has {known}.", field="data.train")
    if dev not in splits and dev != "dev":
        raise DataError(f"{name}: no split {dev!r}; it has {known}.", field="data.dev")
    if dev in splits:
        return Parts(splits[train], splits[dev], (*notes, *_note_shared_texts(splits[train], splits[dev])))
    held_out = hold_out(splits[train], seed)
    return Parts(held_out.train, held_out.dev, (*notes, *held_out.notes))


def hold_out(train: Sequence[Example], seed: int) -> Parts:
    """Set a tenth of the training examples aside to choose the epoch on; of few ones up to a fifth, to have 300.

    No text is on both sides, be it under another query or as a copy, if there are enough: a model knows the label of
    what it has learned.
    """
    parts = make_splits(train, test=0.0, seed=seed)
    rest, dev = parts.get("train", ()), parts.get("dev", ())
    if not dev:  # too few texts: some have to be on both sides
        dev = limit(train, max(2, round(choose_dev_share(len(train)) * len(train))), seed)
        chosen = {example.id for example in dev}
        rest = select_examples(train, [place for place, each in enumerate(train) if each.id not in chosen])
    return Parts(rest, dev, (describe_held_out(len(dev)), *_note_shared_texts(rest, dev)))


def _note_shared_texts(train: Sequence[Example], dev: Sequence[Example]) -> Iterator[str]:
    # Of train, which may be on disk, nothing is kept but what dev has, too.
    texts = [digest_text(fold_text(example.text)) for example in dev]
    wanted = set(texts)
    known = wanted.intersection(digest_text(fold_text(example.text)) for example in train)
    n = sum(text in known for text in texts)
    if n:
        yield describe_shared(n, len(dev))


def describe_split(name: str, sizes: Mapping[str, int]) -> str:
    """Say what was made of the only split."""
    shown = ", ".join(f"{part} {size}" for part, size in sizes.items())
    return f"{name} has one split, of which these were made: {shown}; `rationalize data split` keeps them"


def describe_held_out(count: int) -> str:
    """Say how many training examples are the dev split."""
    return f"no dev split: {count} training examples were set aside to choose the epoch"


def describe_shared(count: int, n: int) -> str:
    """Say how many of n dev texts are training texts too."""
    return f"{count} of {n} dev texts are also in train, so dev scores are better than those on new texts"


def find_obstacles(train: Sequence[Example], dev: Sequence[Example]) -> Iterator[Obstacle]:
    """Yield everything that keeps a classifier from being trained."""
    for part, examples in (("train", train), ("dev", dev)):
        shown = "training" if part == "train" else part
        for example in (example for example in examples if example.label is None):
            message = f"{shown} example {example.id!r} has no label. Every example needs one; {_UNLABELED}."
            expected = f"a class name; {_UNLABELED}"
            yield Obstacle("missing label", part, message, "nothing", expected, example, _DROP)
    labels = list_labels(train)
    if len(labels) < 2:
        seen = f"{len(labels)} class(es) ({', '.join(labels)})"
        message = f"the training examples have {seen}; 2 are needed."
        yield Obstacle("fewer than two classes", "train", message, seen, "at least two labels")
    else:
        first = {example.label: example for example in reversed(dev) if example.label is not None}
        for label in sorted(set(first) - set(labels)):
            message = f"dev has label(s) that no training example has: {label}."
            expected = f"one of {', '.join(labels)}"
            yield Obstacle("label unknown in train", "dev", message, repr(label), expected, first[label])
    if not dev:
        message = "there is no dev example to choose the epoch on."
        yield Obstacle("no dev example", "dev", message, "0 examples", "at least one")


def require_ready(train: Sequence[Example], dev: Sequence[Example]) -> None:
    """Refuse examples that nothing can be learned from.

    Raises:
        DataError: At the first obstacle.
    """
    for obstacle in find_obstacles(train, dev):
        raise DataError(obstacle.message, field=obstacle.setting or ())
