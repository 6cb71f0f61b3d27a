"""Check whether the selector has collapsed: selected shares, a mask-only probe, and plain warnings.

The label can collapse, too: if a model predicts the same label for everything, its rationales support nothing.

Masks cover only the words that the model read: it could not have selected the others.

Where people looked and marked nothing (gold is empty, not missing), selecting nothing is right. If that is so in one
class, the amount tells the class as it should. Such documents are described like all, but are no ground for a warning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from statistics import pstdev
from typing import Any, Self

from rationalize.metrics.counting import ratio
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.probe import Probe, mask_probe

ALMOST_NOTHING = 0.005  # of the words
ALMOST_EVERYTHING = 0.95  # of the words
MOSTLY_EMPTY = 0.5  # of the documents
SAME_MASK = 0.95  # of the documents
CLASS_RATIO = 3.0  # between two classes' selected shares
EMPTINESS_GAP = 0.5  # between two classes' shares of empty masks
SAME_LABEL = 0.95  # of the examples
LABEL_GAP = 0.2  # between how often a label is predicted and how often it is true
FEW = 5  # fewer documents than this (of a class, or in all) support no verdict about patterns
PROBE_GAIN = 0.3  # of the way from majority accuracy to a perfect one
PROBE_P = 0.01


@dataclass(frozen=True, slots=True)
class ShareOf:
    """Selection in one class's documents.

    Attributes:
        selected: Share of the words.
        empty: Share of the masks that are empty.
        n: Number of documents.
    """

    selected: float
    empty: float
    n: int


@dataclass(frozen=True, slots=True)
class SelectorHealth:
    """A summary of a selector's masks.

    Attributes:
        selected_share: Selected words / words read, pooled. None without words.
        selected_share_std: Standard deviation of that share over documents.
        empty_share: Share of the documents without a selected word.
        by_predicted: Selection by predicted label.
        by_gold: Selection by gold label.
        probe_predicted: How well the mask's shape alone predicts the model's label.
        probe_gold: How well it predicts the gold label.
        warnings: One plain sentence per sign of collapse.
    """

    selected_share: float | None
    selected_share_std: float | None
    empty_share: float | None
    by_predicted: dict[str, ShareOf]
    by_gold: dict[str, ShareOf]
    probe_predicted: Probe
    probe_gold: Probe
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self) | {"warnings": list(self.warnings)}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Self:
        """Rebuild a summary from what `to_dict` returned."""

        def by_label(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, ShareOf]:
            return {label: ShareOf(**each) for label, each in rows.items()}

        return cls(
            selected_share=row["selected_share"],
            selected_share_std=row["selected_share_std"],
            empty_share=row["empty_share"],
            by_predicted=by_label(row["by_predicted"]),
            by_gold=by_label(row["by_gold"]),
            probe_predicted=Probe(**row["probe_predicted"]),
            probe_gold=Probe(**row["probe_gold"]),
            warnings=tuple(row["warnings"]),
        )


@dataclass(frozen=True, slots=True)
class _Masked:
    """One mask over the words read, its labels, and whether people found nothing to mark there."""

    mask: tuple[bool, ...]
    label: str
    gold_label: str | None
    nothing_to_mark: bool = False

    @property
    def share(self) -> float:
        return sum(self.mask) / len(self.mask)


def selector_health(instances: Iterable[ScoredInstance]) -> SelectorHealth:
    """Describe the masks of a split and warn in plain words of signs of collapse.

    Shares are over documents; the probe sees one mask per example, its documents joined. Documents without a
    word that was read are left out.
    """
    rows = [row for row in instances if row.words_read]
    documents = [
        _Masked(row.selected[: row.words_read], row.label, row.gold_label, row.gold == ()) for row in rows
    ]
    examples = _join_documents(rows, documents)
    masks = [each.mask for each in examples]
    by_predicted = _by_label(documents, [each.label for each in documents])
    probe_predicted = mask_probe(masks, [each.label for each in examples])
    shares = [each.share for each in documents]
    return SelectorHealth(
        selected_share=_measure_share(documents),
        selected_share_std=pstdev(shares) if shares else None,
        empty_share=_measure_emptiness(documents),
        by_predicted=by_predicted,
        by_gold=_by_label(documents, [each.gold_label for each in documents]),
        probe_predicted=probe_predicted,
        probe_gold=mask_probe(masks, [each.gold_label for each in examples]),
        warnings=(*_label_warnings(examples), *_selection_warnings(documents, examples, probe_predicted)),
    )


def _selection_warnings(
    documents: Sequence[_Masked], examples: Sequence[_Masked], probe: Probe
) -> Iterable[str]:
    """Warn of signs in documents where something may be selected; `probe` is that of all examples.

    A label under which people never mark anything shows itself by a mask that is (nearly) empty. That is as it should
    be, so what tells predicted labels apart is looked for among the others.
    """
    judged = [each for each in documents if not each.nothing_to_mark]
    silent = _find_silent(examples)
    compared = [each for each in judged if each.label not in silent]
    if len(compared) < len(documents):
        left = [each for each in examples if not each.nothing_to_mark and each.label not in silent]
        probe = mask_probe([each.mask for each in left], [each.label for each in left])
    yield from _amount_warnings(_measure_share(judged), _measure_emptiness(judged))
    yield from _class_warnings(_by_label(compared, [each.label for each in compared]))
    yield from _probe_warnings(probe)
    yield from _position_warnings([each.mask for each in judged])


def _find_silent(examples: Sequence[_Masked]) -> set[str | None]:
    """Return the true labels whose examples never have anything to mark."""
    marked = {each.gold_label for each in examples if not each.nothing_to_mark}
    return {each.gold_label for each in examples} - marked


def _measure_share(documents: Sequence[_Masked]) -> float | None:
    return ratio(sum(sum(each.mask) for each in documents), sum(len(each.mask) for each in documents))


def _measure_emptiness(documents: Sequence[_Masked]) -> float | None:
    return ratio(sum(not any(each.mask) for each in documents), len(documents))


def _join_documents(rows: Sequence[ScoredInstance], documents: Sequence[_Masked]) -> list[_Masked]:
    examples: dict[str, _Masked] = {}
    for row, document in zip(rows, documents):
        before = examples.get(row.id)
        mask = (*(before.mask if before else ()), *document.mask)
        nothing = document.nothing_to_mark and (before is None or before.nothing_to_mark)
        examples[row.id] = _Masked(mask, document.label, document.gold_label, nothing)
    return list(examples.values())


def _by_label(documents: Sequence[_Masked], labels: Sequence[str | None]) -> dict[str, ShareOf]:
    found = {}
    for label in sorted({label for label in labels if label is not None}):
        masks = [each.mask for each, own in zip(documents, labels) if own == label]
        selected = sum(map(sum, masks)) / sum(map(len, masks))
        found[label] = ShareOf(selected, sum(not any(mask) for mask in masks) / len(masks), len(masks))
    return found


def _label_warnings(examples: Sequence[_Masked]) -> Iterable[str]:
    known = [each for each in examples if each.gold_label is not None]
    if len(known) < FEW:
        return
    label, count = Counter(each.label for each in known).most_common(1)[0]
    given, true = count / len(known), sum(each.gold_label == label for each in known) / len(known)
    if given >= SAME_LABEL and given - true >= LABEL_GAP:
        yield (
            f"The model predicts {label!r} for {given:.0%} of the examples, but only {true:.0%} have that label: "
            "it has not learned the label, so its rationales support nothing."
        )


def _amount_warnings(share: float | None, empty: float | None) -> Iterable[str]:
    if share is None or empty is None:
        return
    if share < ALMOST_NOTHING:
        yield f"The selector selects almost nothing: {share:.2%} of the words."
    elif empty > MOSTLY_EMPTY:
        yield f"The selector selects nothing at all in {empty:.0%} of the documents."
    if share > ALMOST_EVERYTHING:
        yield f"The selector selects almost everything: {share:.1%} of the words."


def _class_warnings(by_label: dict[str, ShareOf]) -> Iterable[str]:
    classes = [(label, share) for label, share in by_label.items() if share.n >= FEW]
    if len(classes) < 2:
        return
    least, *_, most = sorted(classes, key=lambda item: item[1].selected)
    enough = most[1].selected >= ALMOST_NOTHING
    if enough and most[1].selected > CLASS_RATIO * least[1].selected:
        yield (
            f"The selector selects {most[1].selected:.1%} of the words where the model predicts {most[0]!r} and "
            f"{least[1].selected:.1%} where it predicts {least[0]!r}: the amount alone may reveal the class."
        )
    fullest, *_, emptiest = sorted(classes, key=lambda item: item[1].empty)
    if emptiest[1].empty - fullest[1].empty >= EMPTINESS_GAP:
        yield (
            f"Nothing is selected in {emptiest[1].empty:.0%} of the documents predicted {emptiest[0]!r} but in "
            f"{fullest[1].empty:.0%} of those predicted {fullest[0]!r}: emptiness may reveal the class."
        )


def _probe_warnings(probe: Probe) -> Iterable[str]:
    if probe.accuracy is None or probe.majority is None or probe.p_value is None:
        return
    wide = probe.accuracy - probe.majority >= PROBE_GAIN * (1 - probe.majority)
    if wide and probe.p_value < PROBE_P:
        yield (
            f"The mask's shape alone, without a word, predicts the model's label in {probe.accuracy:.0%} of "
            f"{probe.n} examples (majority class: {probe.majority:.0%}): the mask may carry the label."
        )


def _position_warnings(masks: Sequence[tuple[bool, ...]]) -> Iterable[str]:
    if len(masks) < FEW:
        return
    for end, step in (("start", 1), ("end", -1)):
        places = Counter(tuple(compress(range(len(mask)), mask[::step])) for mask in masks if not all(mask))
        same, count = places.most_common(1)[0] if places else ((), 0)
        if same and count >= SAME_MASK * len(masks):
            yield (
                f"The selected positions, counted from the {end}, are the same in {count} of {len(masks)} "
                "documents: the selector may not be reading the text."
            )
            return
