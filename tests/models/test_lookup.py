"""Embeddings whose gradient names the rows that were looked up."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rationalize.models import _lookup
from rationalize.models._lookup import look_up

IDS = torch.tensor([[3, 0, 3], [5, 1, 0]])


@pytest.fixture
def table():
    torch.manual_seed(0)
    return nn.Embedding(7, 4, padding_idx=0)


@pytest.fixture(autouse=True)
def name_all_rows(monkeypatch):
    monkeypatch.setattr(_lookup, "LEAST_TABLE", 0)


def test_large_tables_have_gradients_that_name_rows(table):
    upstream = torch.randn(2, 3, 4)
    look_up(table, IDS).backward(upstream)
    found, table.weight.grad = table.weight.grad, None
    table(IDS).backward(upstream)
    assert found.is_sparse
    torch.testing.assert_close(found.to_dense(), table.weight.grad)
    assert not found.to_dense()[0].any()  # padding


def test_small_tables_do_not(table, monkeypatch):
    monkeypatch.setattr(_lookup, "LEAST_TABLE", 29)
    look_up(table, IDS).sum().backward()
    assert not table.weight.grad.is_sparse


class Scaled(nn.Embedding):
    """As some models have it."""

    def forward(self, input):
        return 2 * super().forward(input)


@pytest.mark.parametrize("make", [Scaled, lambda *size: nn.Embedding(*size, max_norm=0.1)])
def test_tables_with_rules_of_their_own_keep_them(make):
    torch.manual_seed(0)
    table = make(7, 4)
    torch.testing.assert_close(look_up(table, IDS), table(IDS))
    look_up(table, IDS).sum().backward()
    assert not table.weight.grad.is_sparse
