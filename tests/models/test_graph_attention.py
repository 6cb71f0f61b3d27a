"""Attention of a graph is the usual one, hidden and nearly hidden pieces included, and one operator."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from rationalize.models._graph_attention import attend_in_graph

ROWS, HEADS, PIECES, WIDTH = 3, 2, 5, 4


def draw():
    chance = torch.Generator().manual_seed(0)
    return [torch.randn(ROWS, HEADS, PIECES, WIDTH, generator=chance, dtype=torch.float64) for _ in range(3)]


def add_to_scores(shown):
    """What encoders add to the scores: log(shown), half of the lowest number for 0."""
    lowest = torch.finfo(torch.float64).min / 2
    added = shown.clamp(min=torch.finfo(torch.float64).tiny).log().masked_fill(shown <= 0, lowest)
    return added[:, None, None, :].expand(-1, 1, PIECES, -1)


@pytest.mark.parametrize("scaling", [None, 0.25])
def test_it_sees_what_the_usual_attention_sees(scaling):
    shown = torch.tensor([[1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [1, 0.3, 1e-6, 0, 1]], dtype=torch.float64)
    query, key, value = draw()
    added = add_to_scores(shown)
    found, weights = attend_in_graph(None, query, key, value, added, scaling=scaling, dropout=0.0)
    wanted = F.scaled_dot_product_attention(query, key, value, attn_mask=added, scale=scaling)
    assert weights is None
    torch.testing.assert_close(found, wanted.transpose(1, 2), rtol=0, atol=1e-12)


def test_a_row_that_shows_nothing_stays_finite():
    query, key, value = draw()
    found, _ = attend_in_graph(None, query, key, value, add_to_scores(torch.zeros(ROWS, PIECES).double()))
    assert found.isfinite().all()


def test_without_a_mask_nothing_is_added():
    query, key, value = draw()
    found, _ = attend_in_graph(None, query, key, value, None)
    wanted = F.scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(found, wanted.transpose(1, 2), rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore")  # of the exporter
def test_a_graph_has_one_operator_for_it_that_takes_any_rows_and_pieces(tmp_path, capfd):
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")

    class Attending(nn.Module):
        def forward(self, query, key, value, added):
            return attend_in_graph(self, query, key, value, added)[0]

    names, path = ["query", "key", "value", "added"], tmp_path / "attention.onnx"
    axes = {name: {0: "rows", 2: "pieces"} for name in names[:3]}
    traced = [each[:2, :, :3].float() for each in draw()]
    torch.onnx.export(
        Attending().eval(),
        (*traced, torch.zeros(2, 1, 3, 3)),
        path,
        dynamo=False,
        opset_version=17,
        input_names=names,
        output_names=["seen"],
        dynamic_axes={**axes, "added": {0: "rows", 2: "pieces", 3: "pieces"}},
    )
    assert "shape inference" not in capfd.readouterr().err, "the exporter knows what it returns"
    operators = [node.op_type for node in onnx.load(path).graph.node]
    assert operators.count("MultiHeadAttention") == 1
    assert not {"Softmax", "MatMul"} & set(operators)
    query, key, value = (each.float() for each in draw())
    added = add_to_scores(torch.tensor([[1.0] * 5, [1, 0, 1, 1, 0], [0, 1, 0, 0, 1]], dtype=torch.float64))
    given = dict(zip(names, (query, key, value, added.clamp(min=-1e30).float()), strict=True))
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {name: each.numpy() for name, each in given.items()})
    wanted = F.scaled_dot_product_attention(query, key, value, attn_mask=given["added"]).transpose(1, 2)
    torch.testing.assert_close(torch.from_numpy(found), wanted, rtol=0, atol=1e-5)
