from __future__ import annotations

import pytest

from rationalize.data.dataset import DataSet, normalize_split, to_eraser_split
from rationalize.errors import DataError
from rationalize.types import Example, Span

DATA = DataSet(
    "reviews",
    {
        "train": (Example("a", "one", "POS", rationale=(Span(0, 3),)), Example("b", "two", "NEG")),
        "dev": (Example("c", "three"),),
    },
)


def test_it_is_a_mapping_of_splits_by_any_of_their_names():
    assert list(DATA) == ["train", "dev"]
    assert DATA["dev"] == DATA["val"] == DATA.get("validation") == DATA.split("valid")
    assert "val" in DATA
    assert "test" not in DATA
    assert 3 not in DATA
    with pytest.raises(KeyError):
        DATA["test"]
    with pytest.raises(DataError, match=r"reviews: no split 'test'\. It has train, dev"):
        DATA.split("test")


def test_it_says_what_is_in_it():
    assert DATA.labels == ("NEG", "POS")
    assert repr(DATA) == "DataSet('reviews': train 2, dev 1; labels NEG, POS; 1 with gold; unicode words)"


def test_dev_has_one_name_here_and_another_in_eraser():
    assert {normalize_split(name) for name in ("dev", "val", "Valid", "VALIDATION")} == {"dev"}
    assert [to_eraser_split(name) for name in ("train", "dev", "validation")] == ["train", "val", "val"]
