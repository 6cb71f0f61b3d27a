from __future__ import annotations

import math

import pytest

from rating_studies import small_study
from rationalize.errors import DataError
from rationalize.ratings._agreement import krippendorff_alpha, spearman
from rationalize.ratings.rating_store import Rating
from rationalize.ratings.rating_summary import PEOPLE, summarize_ratings
from rationalize.ratings.study import open_key


def test_alpha_by_hand():
    # Two items, two raters: 1 and 2, 4 and 4. Observed: 2·1²/(2-1) + 0 = 2. Pooled 1, 2, 4, 4: ordered squared
    # differences 2·(1 + 9 + 9 + 4 + 4 + 0) = 54, over n - 1 = 3: 18. Alpha = 1 - 2/18.
    assert krippendorff_alpha([(1, 2), (4, 4)]) == pytest.approx(8 / 9)
    # Three raters of one item, two of another, one alone (left out): observed (2·(1 + 4 + 1))/2 + 2·4 = 14,
    # pooled 1, 2, 3, 1, 3: 2·(1 + 4 + 0 + 4 + 1 + 1 + 1 + 4 + 0 + 4) = 40, over 4: 10. Alpha = 1 - 14/10.
    assert krippendorff_alpha([(1, 2, 3), (1, 3), (5,)]) == pytest.approx(-0.4)


def test_alpha_at_its_ends():
    assert krippendorff_alpha([(1, 1), (5, 5), (3, 3)]) == 1
    assert krippendorff_alpha([(1, 5), (5, 1)]) == pytest.approx(-0.5)
    assert krippendorff_alpha([(10 / 3, 10 / 3), (10 / 3, 10 / 3)]) is None
    assert krippendorff_alpha([(1,), (2,)]) is None
    assert krippendorff_alpha([]) is None


def test_rank_correlation():
    assert spearman([1, 2, 3, 4], [1, 4, 9, 16]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 1, 2]) == pytest.approx(-0.5)
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert spearman([1, 2], [1, 2]) is None


@pytest.fixture
def study(tmp_path):
    return small_study(tmp_path, 4)


def grade(study, rater, grades, question="fluency"):
    """Ratings by the place of the example (r0, r1, …) and the model."""
    found = []
    for item, origin in open_key(study).items.items():
        value = grades[origin.model][int(origin.example[1:])]
        found += [Rating(item, rater, question, value)] if value else []
    return found


def summed(study, *ratings):
    return summarize_ratings(study, open_key(study), [each for part in ratings for each in part])


def test_nothing_rated_yet(study):
    with pytest.raises(DataError, match="nothing has been rated yet"):
        summarize_ratings(study, open_key(study), [])


def test_means_are_of_items_and_groups_are_apart(study):
    summary = summed(
        study,
        grade(study, "anna", {"ours": [4, 4, 2, None], "theirs": [1, None, None, None]}),
        grade(study, "bert", {"ours": [5, None, None, None], "theirs": [None] * 4}),
        grade(study, "llm:x", {"ours": [3, 3, 3, 3], "theirs": [1, 1, 1, 2]}),
    )
    scores = {(each.group, each.model): each for each in summary.scores}
    ours = scores[PEOPLE, "ours"]  # item means 4.5, 4 and 2
    assert (ours.mean, ours.n, ours.grades) == (3.5, 3, 4)
    assert ours.sd == pytest.approx(math.sqrt((1 + 0.25 + 2.25) / 2))
    assert (scores[PEOPLE, "theirs"].mean, scores[PEOPLE, "theirs"].sd) == (1, None)
    assert (scores["llm:x", "theirs"].mean, scores["llm:x", "theirs"].n) == (1.25, 4)
    assert summary.groups == (PEOPLE, "llm:x")
    assert summary.raters == {"anna": 0, "bert": 0, "llm:x": 0}  # of three questions only one is answered


def test_agreement_among_people_and_with_a_language_model(study):
    summary = summed(
        study,
        grade(study, "anna", {"ours": [1, 4, None, 2], "theirs": [None] * 4}),
        grade(study, "bert", {"ours": [2, 4, 5, None], "theirs": [None] * 4}),
        grade(study, "llm:x", {"ours": [2, 4, 5, 2], "theirs": [3, 3, 3, 3]}),
    )
    among, across = summary.agreements
    assert (among.between, among.n, among.spearman) == ("people", 2, None)
    assert among.alpha == pytest.approx(8 / 9)
    # Item means of people 1.5, 4, 5, 2 beside 2, 4, 5, 2: observed 2·0.25 = 0.5.
    assert (across.between, across.n) == ("people and llm:x", 4)
    assert across.alpha == pytest.approx(krippendorff_alpha([(1.5, 2), (4, 4), (5, 5), (2, 2)]))
    assert across.spearman == pytest.approx(spearman([1.5, 4, 5, 2], [2, 4, 5, 2]))


def test_one_person_alone_agrees_with_nobody(study):
    assert (
        summed(study, grade(study, "anna", {"ours": [1, 2, 3, 4], "theirs": [1, 2, 3, 4]})).agreements == ()
    )


def test_models_are_compared_over_examples_that_both_have(study):
    given = {"ours": [5, 4, 5, 5], "theirs": [3, 2, 2, None]}
    summary = summed(study, grade(study, "anna", given), grade(study, "anna", given, "usefulness"))
    usefulness, fluency = summary.comparisons
    assert (fluency.first, fluency.second, fluency.n) == ("ours", "theirs", 3)
    assert fluency.difference == pytest.approx(7 / 3)
    assert fluency.low <= fluency.difference <= fluency.high
    # All three differences have one sign: 2 of the 8 sign flips are as extreme. Two tests: Holm doubles.
    assert (fluency.p_value, fluency.p_holm) == (0.25, 0.5)
    assert usefulness.p_holm == 0.5
