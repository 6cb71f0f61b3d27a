"""What speaks against discovered shortcuts: too few, none that repeats, one class only, a finder that guesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rationalize.shortcuts.finder_score import FinderScore

if TYPE_CHECKING:
    from rationalize.shortcuts.statistics import ClassCounts

LOPSIDED = 3.0  # between the classes' shares of examples with a shortcut
FEW = 10  # classes with fewer examples get no warning
RARE = 0.05  # share of examples with a shortcut below which the terms have next to nothing to work on
SINGLE = 0.1  # share of shortcuts that repeat below which what was found is chance

IDLE = "SSR's uniform and virtual losses will have {} to work on"


def list_doubts(
    classes: Mapping[str, ClassCounts],
    phrases: Sequence[Sequence[tuple[str, ...]]],
    min_run: int,
) -> Iterator[str]:
    """Yield warnings about shortcuts, given their numbers by class and the phrases of each example."""
    having, n = sum(map(bool, phrases)), len(phrases)
    if not having:
        yield f"No shortcut was found: {IDLE.format('nothing')}."
        return
    if having < RARE * n:
        yield (
            f"Only {having} of {n} examples have a shortcut: {IDLE.format('next to nothing')}. A lower "
            f"shortcuts.min_run (it was {min_run}) or a larger shortcuts.finder.selection.share finds more."
        )
    total = sum(map(len, phrases))
    repeated = count_repeated(phrases, min_run)
    if repeated < SINGLE * total:
        yield (
            f"Hardly a shortcut repeats: {repeated} of {total} share {_say_words(min_run)} with one of another "
            f"example. What was found is chance rather than a habit of these texts: {IDLE.format('nothing steady')}."
        )
    yield from _doubt_classes(classes)


def doubt_finder(score: FinderScore) -> Iterator[str]:
    """Yield a warning if the finder may as well have guessed."""
    if score.is_chance:
        yield (
            f"The finder is no better than chance: its label is right in {score.accuracy:.1%} of {score.n} dev "
            f"examples (95 % interval {score.low:.1%} to {score.high:.1%}), the commonest label in "
            f"{score.majority:.1%}. What it selects does not show shortcuts; train it longer (shortcuts.epochs)."
        )


def count_repeated(phrases: Sequence[Sequence[tuple[str, ...]]], length: int) -> int:
    """Count the shortcuts that share a run of `length` words with a shortcut of another example."""
    owners: dict[tuple[str, ...], set[int]] = {}
    for index, own in enumerate(phrases):
        for phrase in own:
            for run in _list_runs(phrase, length):
                owners.setdefault(run, set()).add(index)
    return sum(
        any(len(owners[run]) > 1 for run in _list_runs(phrase, length)) for own in phrases for phrase in own
    )


def _list_runs(phrase: tuple[str, ...], length: int) -> Iterator[tuple[str, ...]]:
    size = min(length, len(phrase))
    return (phrase[start : start + size] for start in range(len(phrase) - size + 1))


def _say_words(count: int) -> str:
    return f"{count} words" if count > 1 else "a word"


def _doubt_classes(classes: Mapping[str, ClassCounts]) -> Iterator[str]:
    known = {label: row for label, row in classes.items() if row["n_examples"] >= FEW}
    if len(known) < 2:
        return
    most = max(known, key=lambda label: known[label]["share_with_shortcut"])
    least = min(known, key=lambda label: known[label]["share_with_shortcut"])
    if known[most]["share_with_shortcut"] <= LOPSIDED * known[least]["share_with_shortcut"]:
        return
    yield (
        f"Having a shortcut reveals the label: {known[most]['n_with_shortcut']} of {known[most]['n_examples']} "
        f"{most} examples have one, {known[least]['n_with_shortcut']} of {known[least]['n_examples']} {least} "
        "examples do. The finder has probably collapsed: it selects by class."
    )
