"""Measure agreement between people: token F1 and Krippendorff's alpha."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rationalize.text.words import PLAIN, word_mask, word_spans
from rationalize.types import Span


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """Agreement between people, over all texts that at least two of them annotated.

    1 is perfect; for alpha 0 is what chance would give. None: undefined, as there is nothing to compare.

    Attributes:
        marked_texts: Texts whose spans at least two people marked.
        labeled_texts: Texts whose class at least two people chose.
        token_f1: F1 of one person's words against another's, counts pooled over all pairs and texts.
        token_alpha: Krippendorff's alpha of the words, marked or not.
        label_match: Share of pairs of people who chose the same class.
        label_alpha: Krippendorff's alpha (nominal) of the classes.
    """

    marked_texts: int
    labeled_texts: int
    token_f1: float | None
    token_alpha: float | None
    label_match: float | None
    label_alpha: float | None


def measure_agreement(
    marked: Iterable[tuple[str, Sequence[Sequence[Span]]]], labeled: Iterable[Sequence[str]]
) -> AnnotatorAgreement | None:
    """Compare people's spans and classes; None if no text has two of either.

    Args:
        marked: Each text with the spans of everyone who marked it.
        labeled: For each text the classes that people chose.
    """
    texts = [(text, people) for text, people in marked if len(people) > 1]
    classes = [Counter(chosen) for chosen in labeled if len(chosen) > 1]
    if not texts and not classes:
        return None
    both = either = 0
    units: Counter[tuple[int, int]] = Counter()  # words by (people who marked it, people who did not)
    for text, people in texts:
        for times in _count_marks(text, people):
            units[times, len(people) - times] += 1
            # Every pair that shares the word is a hit for both; every mark is gold to each of the others.
            both += times * (times - 1)
            either += times * (len(people) - 1)
    return AnnotatorAgreement(
        marked_texts=len(texts),
        labeled_texts=len(classes),
        token_f1=both / either if either else None,
        token_alpha=nominal_alpha(
            ({"marked": yes, "unmarked": no}, number) for (yes, no), number in units.items()
        ),
        label_match=_share_of_equal_pairs(classes),
        label_alpha=nominal_alpha((chosen, 1) for chosen in classes),
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


def _count_marks(text: str, people: Sequence[Sequence[Span]]) -> Iterable[int]:
    words = word_spans(text, PLAIN)
    return (sum(marks) for marks in zip(*(word_mask(words, spans) for spans in people)))


def _share_of_equal_pairs(classes: Iterable[Counter[str]]) -> float | None:
    same = pairs = 0
    for chosen in classes:
        same += sum(times * (times - 1) for times in chosen.values())
        pairs += chosen.total() * (chosen.total() - 1)
    return same / pairs if pairs else None
