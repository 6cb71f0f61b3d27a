"""Summarize ratings: means by model, agreement between raters, and differences between models.

An item's grade is the mean over the raters of a group. People are one group, every language model another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from rationalize.errors import DataError
from rationalize.files import JsonObject
from rationalize.metrics.significance import bootstrap_interval, holm, permutation_p
from rationalize.ratings._agreement import krippendorff_alpha, spearman
from rationalize.ratings.rating_store import LLM, Failure, Rating
from rationalize.ratings.study import Key, Study

PEOPLE = "people"
ALPHA = "Krippendorff's alpha, interval distance"

Given = Mapping[str, Mapping[str, float]]
"""Grades by item and rater."""


@dataclass(frozen=True, slots=True)
class Score:
    """A group's mean grade of a model.

    Attributes:
        group: People, or a language model.
        model: The graded model.
        question: What was asked.
        mean: Mean of the items' means.
        sd: Standard deviation over items; None for a single item.
        n: Number of items.
        grades: Number of grades.
    """

    group: str
    model: str
    question: str
    mean: float
    sd: float | None
    n: int
    grades: int


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of raters on a question.

    Attributes:
        between: Whose agreement it is.
        question: What was asked.
        alpha: Krippendorff's alpha.
        spearman: The rank correlation, between people and a language model only.
        n: Number of items that both, or at least two, have rated.
    """

    between: str
    question: str
    alpha: float | None
    spearman: float | None
    n: int


@dataclass(frozen=True, slots=True)
class RatingComparison:
    """Two models, paired over the examples whose rationales by both a group has rated.

    Attributes:
        group: People, or a language model.
        question: What was asked.
        first: A model.
        second: The other one.
        difference: Mean of the first minus mean of the second.
        low: Where the interval of the difference starts.
        high: Where it ends.
        p_value: Of no difference.
        p_holm: The same, corrected over all comparisons of the group.
        n: Number of examples.
    """

    group: str
    question: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float
    n: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of a report.

    Attributes:
        models: The graded models.
        questions: What was asked.
        items: Number of items.
        raters: Number of fully graded items, by rater.
        scores: Mean grades.
        agreements: Agreement of raters.
        comparisons: Differences between models.
        failures: Items that a language model did not grade.
    """

    models: tuple[str, ...]
    questions: tuple[str, ...]
    items: int
    raters: dict[str, int]
    scores: tuple[Score, ...]
    agreements: tuple[RaterAgreement, ...]
    comparisons: tuple[RatingComparison, ...]
    failures: tuple[Failure, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups that have rated something, people first."""
        return tuple(dict.fromkeys(score.group for score in self.scores))

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return {**asdict(self), "alpha_kind": ALPHA}


def summarize_ratings(
    study: Study, key: Key, ratings: Sequence[Rating], failures: Sequence[Failure] = ()
) -> Summary:
    """Summarize a study's ratings; raise DataError if there are none."""
    if not ratings:
        raise DataError(
            f"{study.folder}: nothing has been rated yet. Rate first, with `rationalize rate human {study.folder}` or "
            f"`rationalize rate llm {study.folder}`."
        )
    questions = study.info.guide.question_ids
    models = tuple(sorted({origin.model for origin in key.items.values()}))
    given = {question: _group_ratings(ratings, question) for question in questions}
    scores = [
        each for question in questions for each in _score_models(question, given[question], key, models)
    ]
    groups = dict.fromkeys(name for groups in given.values() for name in groups)
    comparisons = [
        each
        for group in groups
        for each in _compare_models(
            group, {name: given[name].get(group, {}) for name in questions}, key, models, study.info.seed
        )
    ]
    return Summary(
        models=models,
        questions=questions,
        items=len(study.items),
        raters=_count_rated(ratings, questions),
        scores=tuple(sorted(scores, key=lambda each: each.group != PEOPLE)),
        agreements=tuple(
            each for question in questions for each in _measure_agreements(question, given[question])
        ),
        comparisons=tuple(sorted(comparisons, key=lambda each: each.group != PEOPLE)),
        failures=tuple(failures),
    )


def _group_ratings(ratings: Sequence[Rating], question: str) -> dict[str, dict[str, dict[str, float]]]:
    """Group the grades of one question by group, item and rater."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for rating in ratings:
        if rating.question == question:
            group = rating.rater if rating.rater.startswith(LLM) else PEOPLE
            found.setdefault(group, {}).setdefault(rating.item, {})[rating.rater] = rating.grade
    return found


def _count_rated(ratings: Sequence[Rating], questions: Sequence[str]) -> dict[str, int]:
    answered: dict[str, defaultdict[str, set[str]]] = {}
    for rating in ratings:
        answered.setdefault(rating.rater, defaultdict(set))[rating.item].add(rating.question)
    return {
        rater: sum(set(questions) <= done for done in items.values()) for rater, items in answered.items()
    }


def _average(given: Given) -> dict[str, float]:
    return {item: float(np.mean(list(grades.values()))) for item, grades in given.items()}


def _score_models(question: str, groups: Mapping[str, Given], key: Key, models: Sequence[str]) -> list[Score]:
    scores = []
    for group, given in groups.items():
        for model in models:
            own = {item: grades for item, grades in given.items() if key.items[item].model == model}
            if own:
                values = list(_average(own).values())
                sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
                grades = sum(map(len, own.values()))
                scores.append(Score(group, model, question, float(np.mean(values)), sd, len(values), grades))
    return scores


def _measure_agreements(question: str, groups: Mapping[str, Given]) -> list[RaterAgreement]:
    people = groups.get(PEOPLE, {})
    machines = {group: given for group, given in groups.items() if group != PEOPLE}
    found = []
    if len({rater for grades in people.values() for rater in grades}) > 1:
        found.append(
            _measure_among("people", question, [list(grades.values()) for grades in people.values()])
        )
    if len(machines) > 1:
        items = sorted({item for given in machines.values() for item in given})
        units = [[_average(given)[item] for given in machines.values() if item in given] for item in items]
        found.append(_measure_among("language models", question, units))
    human = _average(people)
    for group, given in machines.items():
        machine = _average(given)
        both = sorted(human.keys() & machine.keys())
        if both:
            ours, theirs = [human[item] for item in both], [machine[item] for item in both]
            alpha = krippendorff_alpha(zip(ours, theirs, strict=True))
            between = f"people and {group}"
            found.append(RaterAgreement(between, question, alpha, spearman(ours, theirs), len(both)))
    return found


def _measure_among(between: str, question: str, units: list[list[float]]) -> RaterAgreement:
    pairable = [unit for unit in units if len(unit) > 1]
    return RaterAgreement(between, question, krippendorff_alpha(pairable), None, len(pairable))


def _compare_models(
    group: str, given: Mapping[str, Given], key: Key, models: Sequence[str], seed: int
) -> list[RatingComparison]:
    """Compare every two models on every question; skip pairs without a shared example."""
    pairs = [
        (question, first, second, ours, theirs)
        for question, grades in given.items()
        for first, second, ours, theirs in _pair_models(grades, key, models)
    ]
    p_values = [permutation_p(ours, theirs, seed=seed) for *_, ours, theirs in pairs]
    corrected = holm(np.array(p_values))
    found = []
    for pair, p_value, p_holm in zip(pairs, p_values, corrected, strict=True):
        question, first, second, ours, theirs = pair
        interval = bootstrap_interval(ours, theirs, seed=seed)
        gap = float(np.mean(ours) - np.mean(theirs))
        chance = (p_value, float(p_holm), len(ours))
        found.append(
            RatingComparison(group, question, first, second, gap, interval.low, interval.high, *chance)
        )
    return found


def _pair_models(
    given: Given, key: Key, models: Sequence[str]
) -> Iterator[tuple[str, str, list[float], list[float]]]:
    """Yield pairs of models with their grades on shared examples."""
    by_model: dict[str, dict[str, float]] = {model: {} for model in models}
    for item, mean in _average(given).items():
        by_model[key.items[item].model][key.items[item].example] = mean
    for first, second in combinations(models, 2):
        shared = sorted(by_model[first].keys() & by_model[second].keys())
        if shared:
            yield (
                first,
                second,
                [by_model[first][each] for each in shared],
                [by_model[second][each] for each in shared],
            )
