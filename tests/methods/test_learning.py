"""Methods that read gold learn the label and the rationale, most of them from all gold, some from a part."""

from __future__ import annotations

import pytest

from helpers import learn

ARGMAX = {"options": {"selection": {"decoding": "argmax"}}}
FEW = {"st_rat": (5, {"data": {"gold_share": 0.4}}), "wsee": (12, {"data": {"gold_share": 0.5}})}


def check(method, folder, token_f1, **settings):
    _, display = learn(method, folder, **settings)
    _, dev, _ = display.epochs[-1]
    assert dev["task_f1"] > 0.9
    assert dev["token_f1"] > token_f1


@pytest.mark.parametrize(
    ("method", "epochs", "settings", "token_f1"),
    [
        ("sup_rat", 8, ARGMAX, 0.9),
        pytest.param("at_bmc", 8, ARGMAX, 0.9, marks=pytest.mark.slow),
        pytest.param("unirex", 8, {"options": {"shares": [0.1, 0.5]}}, 0.8, marks=pytest.mark.slow),
        # The full stop belongs to the sentence and not to gold.
        pytest.param("pipeline", 10, {}, 0.75, marks=pytest.mark.slow),
    ],
)
def test_it_learns_label_and_rationale(tmp_path, method, epochs, settings, token_f1):
    check(method, tmp_path / "run", token_f1, epochs=epochs, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["st_rat", "wsee"])
def test_it_learns_from_few_rationales(tmp_path, method):
    epochs, settings = FEW[method]
    check(method, tmp_path / "run", 0.8, epochs=epochs, n_train=60, **settings)
