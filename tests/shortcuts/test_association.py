from __future__ import annotations

from math import comb

import numpy as np
import pytest

from rationalize.audit.audit_config import AuditConfig
from rationalize.metrics.significance import holm
from rationalize.shortcuts.association import associate, two_sided_p
from rationalize.shortcuts.phrase_rules import is_associated

EVERYTHING = 12


def test_p_values_are_those_of_counting_all_tables():
    tables = [
        (together, phrase, label)
        for phrase in range(1, EVERYTHING + 1)
        for label in range(1, EVERYTHING)
        for together in range(max(0, phrase + label - EVERYTHING), min(phrase, label) + 1)
    ]
    together, phrase, label = np.array(tables).T[:, :, None]
    found = two_sided_p(together, phrase, label, EVERYTHING).ravel().tolist()
    assert found == pytest.approx([by_counting(*table) for table in tables], rel=1e-9)


def by_counting(together, phrase, label):
    def chance(k):
        return comb(label, k) * comb(EVERYTHING - label, phrase - k) / comb(EVERYTHING, phrase)

    least, most = max(0, phrase + label - EVERYTHING), min(phrase, label)
    tails = sum(map(chance, range(together, most + 1))), sum(map(chance, range(least, together + 1)))
    return min(1, 2 * min(tails))


def test_holm_by_hand():
    # 0.01 * 4, then max with 0.02 * 3, then 0.03 * 2 (kept at 0.06), then 0.5 * 1.
    assert holm(np.array([0.5, 0.01, 0.03, 0.02])).tolist() == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm(np.array([[0.9], [0.8]])).tolist() == [[1.0], [1.0]]


def test_two_labels_are_one_test_and_three_are_three():
    together = np.array([[9, 1], [5, 5]])
    two = associate(together, np.array([20, 20]))
    assert two.adjusted[0] == pytest.approx(2 * two.p_values[0])
    three = associate(np.array([[9, 1, 0], [3, 3, 4]]), np.array([20, 20, 20]))
    assert three.adjusted[0] == pytest.approx(6 * three.p_values[0])


def test_gold_takes_from_its_label_and_gives_to_no_other():
    outside, anywhere = np.array([[20, 60]]), np.array([[60, 60]])
    plain, careful = (associate(outside, np.array([100, 100]), each) for each in (None, anywhere))
    assert (plain.labels[0], plain.adjusted[0] < 1e-6) == (1, True)
    assert careful.difference[0] <= 0
    assert careful.adjusted[0] == 1.0
    # For the label itself only what is outside gold counts, against the other what is anywhere.
    kept = associate(np.array([[50, 5]]), np.array([100, 100]), np.array([[60, 10]]))
    assert (kept.labels[0], kept.together[0], kept.documents[0]) == (0, 50, 60)


def test_the_label_is_the_one_that_the_phrase_speaks_for():
    found = associate(np.array([[30, 30, 0], [0, 0, 12]]), np.array([50, 50, 50]))
    assert found.labels[0] in (0, 1)
    assert found.labels[1] == 2
    assert found.lift[1] == pytest.approx(3.0)
    assert (found.documents[1], found.together[1]) == (12, 12)


def test_tiny_effects_in_huge_data_do_not_alarm():
    found = associate(np.array([[104_000, 96_000]]), np.array([1_000_000, 1_000_000]))
    assert found.adjusted[0] < 1e-10
    assert not is_associated(found, AuditConfig()).any()


def test_a_rare_label_may_double_instead():
    found = associate(np.array([[4700, 300]]), np.array([98_000, 2_000]))
    assert found.difference[0] < 0.1
    assert is_associated(found, AuditConfig()).all()
