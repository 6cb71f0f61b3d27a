"""One class, several spellings: unified where that is safe, reported where it is not; by check and load alike."""

from __future__ import annotations

import json

import pytest

from rationalize.data.source import load
from rationalize.data.validate import check
from rationalize.errors import DataError

KIND = "label written in several ways"


def write(folder, labels):
    rows = [{"text": f"text {i}", "label": label} for i, label in enumerate(labels * 6)]
    path = folder / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1], ("0", "1")),
        ([0.0, 1.0], ("0", "1")),
        ([0, 1.0, 1], ("0", "1")),
        ([0.5, 1], ("0.5", "1")),
        ([True, False], ("False", "True")),
        (["1", "0"], ("0", "1")),
        (["1.0", "2.0"], ("1.0", "2.0")),
        (["yes", 1, 2], ("1", "2", "yes")),
    ],
)
def test_labels_of_one_kind_are_fine(tmp_path, labels, classes):
    path = write(tmp_path, labels)
    assert load(path).labels == classes
    assert KIND not in {kind for _, kind, _ in check(path).counts}


@pytest.mark.parametrize(
    ("labels", "seen"),
    [
        ([1, "1.0", "x"], '"1.0" × 6, 1 × 6'),
        (["1", "1.0", "x"], '"1" × 6, "1.0" × 6'),
        ([1, True, "x"], "1 × 6, true × 6"),
        ([True, 0], "0 × 6, true × 6"),
        ([True, "true", "x"], '"true" × 6, true × 6'),
        ([1, 1, "1", 1.0, True], "1 × 12, 1.0 × 6, true × 6"),
    ],
)
def test_equal_labels_that_would_be_several_classes_are_refused(tmp_path, labels, seen):
    path = write(tmp_path, labels)
    with pytest.raises(DataError) as caught:
        load(path)
    assert f"label: {KIND}: saw {seen}" in str(caught.value)
    assert "all as strings or all as numbers" in str(caught.value)
    report = check(path)
    assert ("error", KIND, 1) in report.counts
    assert not report.trainable


def test_numbers_and_their_strings_are_one_class_with_a_warning(tmp_path):
    path = write(tmp_path, [1, "1", 2])
    data = load(path)
    assert data.labels == ("1", "2")
    assert data.notes == {KIND: 1}
    (problem,) = [problem for problem in check(path).problems if problem.kind == KIND]
    assert (problem.severity, problem.seen) == ("warning", '"1" × 6, 1 × 6')
