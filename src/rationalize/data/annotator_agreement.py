"""Measure agreement between people: token F1, Cohen's kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeVar

from rationalize.text.words import PLAIN, word_mask, word_spans
from rationalize.types import Span

Pair = tuple[str, str]
Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """Agreement between people, over all texts that at least two of them annotated.

    1 is perfect; for alpha and kappa 0 is what chance would give. None: undefined, as there is nothing to compare.

    Attributes:
        marked_texts: Texts whose spans at least two people marked.
        labeled_texts: Texts whose class at least two people chose.
        token_f1: F1 of one person's words against another's, counts pooled over all pairs and texts.
        token_alpha: Krippendorff's alpha of the words, marked or not.
        token_kappa: Cohen's kappa of the words, mean over pairs of people by the words that they share. None also if
            the file does not say who is who.
        label_match: Share of pairs of people who chose the same class.
        label_alpha: Krippendorff's alpha (nominal) of the classes.
        label_kappa: Cohen's kappa of the classes, mean over pairs of people by the texts that they share.
    """

    marked_texts: int
    labeled_texts: int
    token_f1: float | None
    token_alpha: float | None
    token_kappa: float | None
    label_match: float | None
    label_alpha: float | None
    label_kappa: float | None


@dataclass(slots=True)
class AgreementMeter:
    """Counts, text by text, what two people or more say about it; nothing of the texts is kept."""

    marked_texts: int = 0
    labeled_texts: int = 0
    # words by (people who marked it, people who did not)
    _marks: Counter[tuple[int, int]] = field(default_factory=Counter)
    # texts by how many people chose each class
    _classes: Counter[tuple[tuple[str, int], ...]] = field(default_factory=Counter)
    _word_pairs: dict[Pair, Counter[tuple[object, object]]] = field(default_factory=dict)
    _class_pairs: dict[Pair, Counter[tuple[object, object]]] = field(default_factory=dict)

    def add_spans(self, text: str, people: Sequence[Sequence[Span]], names: Sequence[str] = ()) -> None:
        """Add a text with the spans of everyone who marked it, and their names if these are known."""
        if len(people) > 1:
            words = word_spans(text, PLAIN)
            self.add_masks([word_mask(words, spans) for spans in people], names)

    def add_masks(self, masks: Sequence[Sequence[object]], names: Sequence[str] = ()) -> None:
        """Add a text whose words each person marked or not."""
        if len(masks) < 2:
            return
        self.marked_texts += 1
        rows = [[bool(mark) for mark in mask] for mask in masks]
        for marks in zip(*rows, strict=True):
            self._marks[sum(marks), len(marks) - sum(marks)] += 1
        for pair, one, other in _pair_up(names, rows):
            self._word_pairs.setdefault(pair, Counter()).update(zip(one, other, strict=True))

    def add_labels(self, labels: Sequence[str], names: Sequence[str] = ()) -> None:
        """Add a text with the classes that people chose."""
        if len(labels) < 2:
            return
        self.labeled_texts += 1
        self._classes[tuple(sorted(Counter(labels).items()))] += 1
        for pair, one, other in _pair_up(names, labels):
            self._class_pairs.setdefault(pair, Counter())[one, other] += 1

    def merge(self, other: AgreementMeter) -> None:
        """Add what another meter has counted."""
        self.marked_texts += other.marked_texts
        self.labeled_texts += other.labeled_texts
        self._marks.update(other._marks)
        self._classes.update(other._classes)
        for mine, theirs in (
            (self._word_pairs, other._word_pairs),
            (self._class_pairs, other._class_pairs),
        ):
            for pair, counts in theirs.items():
                mine.setdefault(pair, Counter()).update(counts)

    def measure(self) -> AnnotatorAgreement | None:
        """Return the figures; None if no text has two people."""
        if not self.marked_texts and not self.labeled_texts:
            return None
        both = either = 0
        for (yes, no), words in self._marks.items():
            # Every pair that shares the word is a hit for both; every mark is gold to each of the others.
            both += words * yes * (yes - 1)
            either += words * yes * (yes + no - 1)
        marks = (({"marked": yes, "unmarked": no}, words) for (yes, no), words in self._marks.items())
        classes = [(dict(chosen), texts) for chosen, texts in self._classes.items()]
        return AnnotatorAgreement(
            marked_texts=self.marked_texts,
            labeled_texts=self.labeled_texts,
            token_f1=both / either if either else None,
            token_alpha=nominal_alpha(marks),
            token_kappa=_average_kappa(self._word_pairs.values()),
            label_match=_share_of_equal_pairs(classes),
            label_alpha=nominal_alpha(classes),
            label_kappa=_average_kappa(self._class_pairs.values()),
        )


def nominal_alpha(units: Iterable[tuple[Mapping[str, int], int]]) -> float | None:
    """Krippendorff's alpha for classes without an order.

    Args:
        units: How many people gave each value to an item, and how many such items there are. Items with fewer than
            two values are left out.

    Returns:
        None where it is undefined: no item has two values, or all values are the same.
    """
    totals: Counter[str] = Counter()
    observed = 0.0
    for values, number in units:
        people = sum(values.values())
        if people < 2:
            continue
        for value, times in values.items():
            totals[value] += times * number
            observed += number * times * (people - times) / (people - 1)
    everything = sum(totals.values())
    expected = sum(times * (everything - times) for times in totals.values())
    return 1 - observed * (everything - 1) / expected if expected else None


def cohen_kappa(pairs: Mapping[tuple[object, object], int]) -> float | None:
    """Compute Cohen's kappa: agreement beyond that of chance, 1 if perfect, 0 as by chance.

    Args:
        pairs: How often each pair of values was given by the two people.

    Returns:
        None without pairs, or if both always give the same one value: chance agrees fully, too.
    """
    total = sum(pairs.values())
    if not total:
        return None
    firsts: Counter[object] = Counter()
    seconds: Counter[object] = Counter()
    for (one, other), times in pairs.items():
        firsts[one] += times
        seconds[other] += times
    observed = sum(times for (one, other), times in pairs.items() if one == other) / total
    expected = sum(times * seconds[value] for value, times in firsts.items()) / total**2
    return (observed - expected) / (1 - expected) if expected < 1 else None


def _average_kappa(pairs: Iterable[Counter[tuple[object, object]]]) -> float | None:
    found = [(cohen_kappa(counts), counts.total()) for counts in pairs]
    known = [(kappa, items) for kappa, items in found if kappa is not None]
    return sum(kappa * items for kappa, items in known) / sum(items for _, items in known) if known else None


def _pair_up(names: Sequence[str], given: Sequence[Given]) -> Iterator[tuple[Pair, Given, Given]]:
    """Yield every two people, in the order of their names, so that a pair is always the same way round."""
    if len(set(names)) == len(given):
        people = sorted(zip(names, given, strict=True), key=lambda person: person[0])
        for (first, one), (second, other) in combinations(people, 2):
            yield (first, second), one, other


def _share_of_equal_pairs(classes: Iterable[tuple[Mapping[str, int], int]]) -> float | None:
    same = pairs = 0
    for chosen, texts in classes:
        people = sum(chosen.values())
        same += texts * sum(times * (times - 1) for times in chosen.values())
        pairs += texts * people * (people - 1)
    return same / pairs if pairs else None
