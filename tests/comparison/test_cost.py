"""What cells are expected to read: rows of every pool times the passes of the phases over it."""

from __future__ import annotations

import pytest

from helpers import tiny_run
from rationalize.comparison._cell_result import Identity
from rationalize.comparison._cost import BACKWARD, count_passes
from rationalize.comparison.cells import Cell
from rationalize.comparison.run_cell import Checked

TRAIN, GOLD, READ, WORDS, EPOCHS = 100, 20, 7, 50, 3


def cost(method, *, classes=2, training=None, **settings):
    config = tiny_run(method, training={"epochs": EPOCHS, **(training or {})}, **settings)
    gold = {"sup_rat": TRAIN, "unirex": TRAIN}.get(method, GOLD)
    identity = Identity(config={}, data="hash", scored_on="hash", truncate=False, faithfulness="none")
    checked = Checked(Cell("key", method, "toy", config), identity, TRAIN, gold, 5, READ, WORDS, classes)
    [found] = count_passes([checked]).values()
    return found


@pytest.mark.parametrize(
    ("method", "settings", "learned", "explained"),
    [
        ("un_rat", {}, TRAIN * 2 * EPOCHS, 2),
        ("semi_rat", {}, (GOLD * 1 + 80 * 2) * EPOCHS, 2),
        ("mcd", {"options": {"pretrain": 4}}, TRAIN * (1 * 4 + 5 * EPOCHS), 3),
        ("st_rat", {"options": {"teacher_epochs": 6}}, GOLD * 6 + (80 * 4 + GOLD * 2) * EPOCHS, 2),
        ("unirex", {"options": {"shares": [0.1, 0.2, 0.5]}}, TRAIN * 7 * EPOCHS, 2),
        ("car", {"classes": 5}, TRAIN * 4 * EPOCHS, 6),
        ("full_text", {"options": {"attribution": "leave_one_out"}}, TRAIN * EPOCHS, 2 + WORDS),
        ("un_rat", {"training": {"epoch_share": 0.5}}, TRAIN * 2 * EPOCHS * 0.5, 2),
        # The finder learns from all where every one has gold, and the term has a pass of its own.
        ("sup_rat", {"shortcuts": {"uniform_weight": 0.1}}, TRAIN * (2 + 2) * EPOCHS, 2),
        ("ssr_unif", {"shortcuts": {"uniform_weight": 0}}, (GOLD + 80 * 2 + 80 * 2) * EPOCHS, 2),
        ("ssr_unif", {"shortcuts": {"propagate": "phrase"}}, (GOLD * 2 + 80 * 3 + 80 * 2) * EPOCHS, 2),
        ("ssr_unif", {"shortcuts": {"epochs": 1}}, (GOLD * 2 + 80 * 2) * EPOCHS + 80 * 2, 2),
        (
            "semi_rat",
            {"augment": {"kind": "random", "share": 0.5}},
            (GOLD * 1 + 80 * 2 + 50 * 1 + 80 * 2) * EPOCHS,
            2,
        ),
    ],
)
def test_texts_that_are_read(method, settings, learned, explained):
    assert cost(method, **settings) == pytest.approx(BACKWARD * learned + READ * explained)
