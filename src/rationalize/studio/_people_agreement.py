"""How far the people of a studio agree: every pair, and all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from rationalize.data.annotator_agreement import cohen_kappa, nominal_alpha
from rationalize.studio._decisions import Annotation
from rationalize.studio._queue_order import compare_words
from rationalize.studio.pool import Pool


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two people, over the texts that both have done.

    Attributes:
        first: One of them.
        second: The other.
        texts: How many texts both have done.
        word_f1: F1 of the words of one against the other's, all texts pooled. None: neither marked any.
        word_kappa: Cohen's kappa of the words, marked or not. None: chance alone would agree fully.
        label_kappa: Cohen's kappa of the labels; None likewise.
    """

    first: str
    second: str
    texts: int
    word_f1: float | None
    word_kappa: float | None
    label_kappa: float | None


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """All people.

    Attributes:
        pairs: Every two who have a text in common.
        texts: Texts that at least two have done.
        word_alpha: Krippendorff's alpha of the words, marked or not.
        label_alpha: Krippendorff's alpha of the labels.
    """

    pairs: tuple[PairAgreement, ...]
    texts: int
    word_alpha: float | None
    label_alpha: float | None


@dataclass(frozen=True, slots=True)
class _Done:
    label: str | None
    words: tuple[bool, ...]


def compare_people(pool: Pool, annotations: Iterable[Annotation]) -> PeopleAgreement:
    """Compare everything that is done."""
    by_text: dict[int, dict[str, _Done]] = defaultdict(dict)
    for each in annotations:
        if each.state == "done":
            words = tuple(pool.mark_words(each.number, each.spans))
            by_text[each.number][each.person] = _Done(each.label, words)
    shared = [people for people in by_text.values() if len(people) > 1]
    names = sorted({name for people in shared for name in people})
    pairs = (_compare_pair(first, second, shared) for first, second in combinations(names, 2))
    times = Counter(
        (sum(marks), len(marks) - sum(marks))
        for people in shared
        for marks in zip(*(done.words for done in people.values()), strict=True)
    )
    labels = (Counter(done.label for done in people.values() if done.label is not None) for people in shared)
    return PeopleAgreement(
        pairs=tuple(pair for pair in pairs if pair is not None),
        texts=len(shared),
        word_alpha=nominal_alpha(({"in": yes, "out": no}, number) for (yes, no), number in times.items()),
        label_alpha=nominal_alpha((chosen, 1) for chosen in labels),
    )


def _compare_pair(first: str, second: str, shared: Sequence[dict[str, _Done]]) -> PairAgreement | None:
    both = [(people[first], people[second]) for people in shared if first in people and second in people]
    if not both:
        return None
    words = [pair for one, other in both for pair in zip(one.words, other.words, strict=True)]
    labels = [(one.label, other.label) for one, other in both if None not in (one.label, other.label)]
    marked = [one for one, _ in words], [other for _, other in words]
    return PairAgreement(
        first,
        second,
        texts=len(both),
        word_f1=compare_words(*marked) if any(map(any, marked)) else None,
        word_kappa=cohen_kappa(Counter(words)),
        label_kappa=cohen_kappa(Counter(labels)),
    )
