from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rationalize.metrics.health import FEW, SelectorHealth, selector_health
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.probe import mask_probe, shape_features
from rationalize.metrics.selectors import trivial_mask
from rationalize.seeding import python_random


def instance(index, selected, label, **more):
    values = {"id": str(index), "n_words": len(selected), "selected": tuple(selected), "label": label}
    return ScoredInstance(**values | {"gold_label": label} | more)


def split(mask_of, n=60):
    """Documents of 20 to 39 words; `mask_of(words, index, label)`."""
    rows = []
    for index in range(n):
        n_words, label = 20 + python_random(1, index).randrange(20), "ab"[index % 2]
        rows.append(instance(index, mask_of(n_words, index, label), label))
    return rows


def random_mask(n_words, index, _label):
    return trivial_mask("random", n_words, 0.2, key=(index,))


def test_a_random_selector_is_not_called_collapsed():
    health = selector_health(split(random_mask))
    assert health.warnings == ()
    assert health.selected_share == pytest.approx(0.2, abs=0.02)
    assert health.probe_predicted.n == 60
    assert health.probe_predicted.majority == 0.5


@pytest.mark.parametrize(
    ("mask_of", "sentence"),
    [
        (lambda n, i, y: (False,) * n, "selects almost nothing: 0.00%"),
        (lambda n, i, y: (True,) * n, "selects almost everything: 100.0%"),
        (
            lambda n, i, y: trivial_mask("random", n, 0.4 if i % 3 == 0 else 0, key=(i,)),
            "nothing at all in 67%",
        ),
        (
            lambda n, i, y: trivial_mask("random", n, 0.4 if y == "a" else 0.1, key=(i,)),
            "amount alone may reveal",
        ),
        (lambda n, i, y: trivial_mask("random", n, 0.2 if y == "a" else 0, key=(i,)), "emptiness may reveal"),
        (lambda n, i, y: trivial_mask("first" if y == "a" else "last", n, 0.2), "may carry the label"),
        (lambda n, i, y: tuple(k in (2, 5) for k in range(n)), "from the start, are the same in 60 of 60"),
        (lambda n, i, y: tuple(k >= n - 3 for k in range(n)), "from the end, are the same in 60 of 60"),
    ],
)
def test_each_collapse_is_reported(mask_of, sentence):
    assert any(sentence in warning for warning in selector_health(split(mask_of)).warnings)


def test_classes_that_are_empty_alike_reveal_nothing():
    rows = split(lambda n, i, y: trivial_mask("random", n, 0.4 if i % 5 < 3 else 0, key=(i,)))
    assert not any("reveal" in each for each in selector_health(rows).warnings)


def test_masks_that_are_the_same_at_every_other_position_are_not_the_same():
    rows = split(lambda n, i, y: tuple(k in (0, 1 + 2 * (i % 7)) for k in range(n)))
    assert not any("are the same" in each for each in selector_health(rows).warnings)


def test_shares_by_class():
    rows = [instance(0, (True, False), "a"), instance(1, (False, False), "b", gold_label="a")]
    health = selector_health(rows)
    assert (health.selected_share, health.selected_share_std, health.empty_share) == (0.25, 0.25, 0.5)
    assert (health.by_predicted["b"].selected, health.by_predicted["b"].empty) == (0.0, 1.0)
    assert health.by_gold["a"].selected == 0.25


def test_a_summary_survives_the_way_through_json():
    health = selector_health(split(lambda n, i, y: (True,) * n))
    assert health.warnings
    assert SelectorHealth.from_dict(json.loads(json.dumps(health.to_dict()))) == health


@pytest.mark.parametrize(("selected", "warned"), [(19, False), (20, True)])
def test_ninety_five_percent_is_not_yet_everything(selected, warned):
    rows = [instance(index, (True,) * selected + (False,) * (20 - selected), "a") for index in range(2)]
    assert any("almost everything" in each for each in selector_health(rows).warnings) == warned


@pytest.mark.parametrize(("number", "warned"), [(FEW - 1, False), (FEW, True)])
def test_so_few_examples_are_enough_to_say_that_all_get_one_label(number, warned):
    rows = [instance(each, random_mask(20, each, ""), "a", gold_label="b") for each in range(number)]
    assert any("has not learned" in each for each in selector_health(rows).warnings) == warned


def test_only_words_that_were_read_count():
    rows = [
        instance(0, (True, True, False, False), "a", n_words_read=2),
        instance(1, (False,), "a", n_words_read=0),
    ]
    assert selector_health(rows).selected_share == 1.0


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [instance(0, (), "a")],
        [instance(0, (True, False), "a")],
        [instance(0, (True, False), "a", gold_label=None)],
        split(random_mask, 9),
        [instance(index, random_mask(10, index, ""), "a") for index in range(12)],
        [instance(index, random_mask(10, index, ""), "a" if index else "b") for index in range(12)],
    ],
)
def test_few_examples_or_one_class_give_a_report(rows):
    health = selector_health(rows)
    assert health.probe_predicted.accuracy is None
    json.dumps(health.to_dict(), allow_nan=False)


def test_the_probe_joins_the_documents_of_an_example():
    rows = [
        instance(index, (half == index % 2,) * 4, "ab"[index % 2], document=f"d{half}")
        for index in range(20)
        for half in range(2)
    ]
    health = selector_health(rows)
    assert (health.probe_predicted.n, health.probe_predicted.accuracy) == (20, 1.0)


def test_the_probe_is_deterministic():
    rows = split(random_mask)
    masks, labels = [row.selected for row in rows], [row.label for row in rows]
    assert mask_probe(masks, labels) == mask_probe(masks, labels)


def test_features_see_the_shape_alone():
    features = shape_features((False, True, True, False, True, False, False, False, False, False))
    assert features[:6] == pytest.approx([0, 0.3, 2, 1.5, 2, 7 / 30])
    assert features[6:] == pytest.approx([0, 1 / 3, 1 / 3, 0, 1 / 3, 0, 0, 0, 0, 0])
    assert shape_features(()) == [1.0, 0, 0, 0, 0, 0.5] + [0] * 10


@pytest.mark.parametrize(
    ("said", "true", "warned"),
    [
        ("a" * 60, "ab" * 30, True),
        ("a" * 57 + "bbb", "ab" * 30, True),
        ("a" * 55 + "bbbbb", "ab" * 30, False),
        ("a" * 60, "a" * 50 + "b" * 10, False),  # rare classes are hard to tell from a collapse
        ("aaaa", "bbbb", False),
    ],
)
def test_a_model_that_predicts_one_label_is_reported(said, true, warned):
    rows = [
        instance(index, random_mask(20, index, None), label, gold_label=gold)
        for index, (label, gold) in enumerate(zip(said, true, strict=True))
    ]
    warnings = selector_health(rows).warnings
    assert any("has not learned the label" in warning for warning in warnings) == warned
    unlabeled = [instance(index, row.selected, row.label, gold_label=None) for index, row in enumerate(rows)]
    assert not any("learned the label" in warning for warning in selector_health(unlabeled).warnings)


def moderated(mask_of, n=60):
    """Documents of which only class b has anything to mark: people looked at class a and marked nothing."""
    return [
        replace(row, gold=((0, 2),) if row.label == "b" else ())
        for row in split(lambda n, i, y: mask_of(n, i) if y == "b" else (False,) * n, n)
    ]


def test_selecting_nothing_is_right_where_people_marked_nothing():
    health = selector_health(moderated(lambda n, i: trivial_mask("random", n, 0.2, key=(i,))))
    assert health.warnings == ()
    assert health.empty_share == 0.5  # described all the same
    assert health.by_predicted["a"].empty == 1.0


def test_selecting_nothing_is_a_fault_where_people_marked_something():
    (warning,) = selector_health(moderated(lambda n, i: (False,) * n)).warnings
    assert "selects almost nothing: 0.00%" in warning


def test_nothing_is_a_fault_where_nobody_looked():
    rows = [replace(row, gold=None) for row in moderated(lambda n, i: (True,) * 4 + (False,) * (n - 4))]
    assert any("emptiness may reveal" in warning for warning in selector_health(rows).warnings)


def test_a_code_is_found_beside_a_label_with_nothing_to_mark():
    """What tells the other labels apart is still looked for."""
    rows = []
    for row in split(lambda n, i, y: (False,) * n, n=90):
        label = "abc"[int(row.id) % 3]
        mask = (
            trivial_mask({"a": "first", "b": "last"}[label], row.n_words, 0.2)
            if label != "c"
            else row.selected
        )
        rows.append(
            replace(row, selected=mask, label=label, gold_label=label, gold=((0, 2),) if label != "c" else ())
        )
    assert any("may carry the label" in each for each in selector_health(rows).warnings)


def test_what_is_selected_in_vain_is_no_sign_of_a_code():
    """Half of the harmless documents get a word or two: gold itself is of unequal amount."""
    rows = [
        replace(row, selected=trivial_mask("random", row.n_words, 0.05, key=(row.id,)))
        if row.gold == () and index % 4 == 0
        else row
        for index, row in enumerate(moderated(lambda n, i: trivial_mask("random", n, 0.2, key=(i,))))
    ]
    assert selector_health(rows).warnings == ()


def test_a_label_with_nothing_to_mark_may_show_itself_by_a_small_rationale():
    """Of texts with evidence, those taken for harmless show less: that is the mistake itself, no code."""
    rows = []
    for row in split(lambda n, i, y: trivial_mask("random", n, 0.4 if i % 3 else 0.05, key=(i,)), n=120):
        harmless = row.gold_label == "b"
        gold = () if harmless else ((0, 3),)
        rows.append(replace(row, label="b" if harmless or int(row.id) % 3 == 0 else "a", gold=gold))
    assert selector_health(rows).warnings == ()
    once = [replace(row, gold=((0, 3),)) if index == 1 else row for index, row in enumerate(rows)]
    assert any("amount alone" in warning for warning in selector_health(once).warnings), "b is marked, too"
