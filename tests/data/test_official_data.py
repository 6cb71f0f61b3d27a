"""The official archives, where they are at hand: nothing of them is part of the project."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rationalize.data.source import load
from rationalize.data.validate import check

ARCHIVES = Path(__file__).parents[2].parent / "shared" / "data"


def archive(name):
    path = ARCHIVES / f"{name}.tar.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return path


@pytest.fixture(scope="module")
def movies():
    return check(archive("movies"))


def test_movies_counts(movies):
    assert {name: (split.read, split.rejected) for name, split in movies.splits.items()} == {
        "train": (1600, 0),
        "dev": (200, 0),
        "test": (199, 0),
    }
    assert movies.splits["test"].stats.labels == {"NEG": 100, "POS": 99}
    gold = [round(split.stats.gold_fraction, 3) for split in movies.splits.values()]
    words = [round(split.stats.words_mean) for split in movies.splits.values()]
    assert (gold, words) == ([0.093, 0.072, 0.314], [773, 761, 795])


def test_movies_oddities(movies):
    assert movies.ok
    assert movies.counts == (
        ("warning", "gold share differs between splits", 1),
        ("warning", "repeated text", 1),
        ("warning", "zero-length span", 20),
    )
    assert movies.notes == {
        "documents in no split": 1,
        "evidences with sentence index -1": 2067,
        "rows without evidence": 1,
    }


def test_sst2_counts():
    data = load(archive("sst2"))
    labels = {name: Counter(example.label for example in split) for name, split in data.splits.items()}
    assert labels == {
        "train": {"NEG": 3310, "POS": 3610},
        "dev": {"NEG": 428, "POS": 444},
        "test": {"NEG": 912, "POS": 909},
    }
