"""Gradients that name rows, made whole."""

from __future__ import annotations

import json

import pytest
import torch
from launching import run_of, train_in
from torch import nn

from rationalize.models import _lookup
from rationalize.training._table_gradients import TableGradients


def add_gradient(weight, ids, *, sparse):
    """Two readings, as selector and predictor have them; the second hides a piece."""
    for part in (ids, ids[1:]):
        nn.functional.embedding(part, weight, sparse=sparse).pow(2).sum().backward()


def test_updates_see_the_gradient_of_a_whole_table_and_nothing_of_the_update_before():
    torch.manual_seed(0)
    weight, other = (nn.Parameter(torch.randn(9, 3)) for _ in range(2))
    unused = nn.Parameter(torch.randn(2))
    tables = TableGradients()
    for ids in (torch.tensor([1, 4, 4, 7]), torch.tensor([2, 4]), torch.tensor([0])):
        add_gradient(weight, ids, sparse=False)
        wanted, weight.grad = weight.grad, None
        add_gradient(weight, ids, sparse=True)
        other.square().sum().backward()
        dense = other.grad
        tables.complete([weight, other, unused])
        torch.testing.assert_close(weight.grad, wanted)
        assert other.grad is dense
        assert unused.grad is None
        weight.grad.mul_(0.5)  # as clipping does
        weight.grad = other.grad = None


def read_losses(folder):
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [row["losses"] for row in rows if "losses" in row]


@pytest.mark.parametrize("more", [{}, {"micro_batch": 2}], ids=str)
def test_training_learns_the_same(more, tmp_path, monkeypatch):
    for name, least in {"whole": 10**9, "rows": 0}.items():
        monkeypatch.setattr(_lookup, "LEAST_TABLE", least)
        train_in(tmp_path / name, run_of("semi_rat", training=more))
    whole, rows = (read_losses(tmp_path / name) for name in ("whole", "rows"))
    assert len(whole) > 4
    for one, other in zip(whole, rows, strict=True):
        assert one == pytest.approx(other, abs=1e-5)
