"""The trivial selectors on SSR's released Movies test file, against figures measured apart from this code."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from rationalize.metrics import ScoredInstance, trivial_rows

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "ssr_official_movie.tar.gz"


@pytest.fixture(scope="module")
def instances():
    if not ARCHIVE.is_file():
        pytest.skip("SSR's released Movies files are not beside the repository")
    with tarfile.open(ARCHIVE) as archive:
        lines = archive.extractfile("ssr_official_movie/test.json").read().decode().splitlines()
    made = []
    for index, line in enumerate(lines):
        gold = tuple(map(int, json.loads(line)["tag_ids"]))
        selectable = (0, *[1] * (len(gold) - 2), 0)  # all but [CLS] and [SEP]
        made.append(
            ScoredInstance(
                id=str(index),
                n_words=0,
                selected=(),
                label="POS",
                gold=(),
                piece_gold=gold,
                piece_selected=(0,) * len(gold),
                piece_selectable=selectable,
            )
        )
    return made


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.1, {"all": 40.38, "first": 13.4, "last": 21.3, "random": 13.9}),
        (0.2, {"all": 40.38, "first": 21.1, "last": 30.6, "random": 22.5}),
    ],
)
def test_trivial_token_f1(instances, share, expected):
    rows = trivial_rows(instances, share=share)
    for selector, percent in expected.items():
        # Random draws differ between seeds; the others are the same to the digits that were written down.
        tolerance = {"random": 1.0, "all": 0.005}.get(selector, 0.05)
        assert 100 * rows[selector].token_f1_micro_piece == pytest.approx(percent, abs=tolerance), selector
