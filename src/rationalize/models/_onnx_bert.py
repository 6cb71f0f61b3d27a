"""Weights of a BERT from its ONNX graph, and the graph's own outputs to compare with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rationalize.errors import EncoderError

SAMPLES = (
    ("A joy to watch.", None),
    ("The plot drags, and nobody in it is worth the two hours; I left before the end.", None),
    ("The film was shot in Prague.", "Where was the film shot?"),
)
"""Texts on which outputs are compared: a short one, a longer one, and a pair."""


def read_bert_weights(path: Path) -> dict[str, Tensor]:
    """Read the weights of a BERT from an ONNX file, by the names that they have in transformers.

    Exporters keep the names of everything but the matrices of linear layers, which they transpose and number. The
    name of such a matrix is that of the bias which is added to its product.

    Raises:
        EncoderError: If the package onnx is missing, or weights are not in single precision.
    """
    graph = _load_graph(path)
    arrays = {each.name: each for each in graph.initializer}
    _check_precision(path, graph)
    made_by = {name: node for node in graph.node for name in node.output}
    weights = {name: _to_tensor(each) for name, each in arrays.items() if "::" not in name}
    for node in graph.node:
        if node.op_type != "Add":
            continue
        for bias, product in (node.input, reversed(node.input)):
            maker = made_by.get(product)
            if (
                bias in arrays
                and maker is not None
                and maker.op_type == "MatMul"
                and maker.input[1] in arrays
            ):
                weights[f"{bias.removesuffix('.bias')}.weight"] = _to_tensor(arrays[maker.input[1]]).T
    return weights


def load_bert(config: Any, weights: dict[str, Tensor], source: Path) -> Any:
    """Build the model of a `BertConfig`, without a pooler, from weights that must fit it one by one."""
    from transformers import BertModel

    model = BertModel(config, add_pooling_layer=False).eval()
    wanted = {name: tuple(each.shape) for name, each in model.state_dict().items()}
    fitting = {
        name for name, shape in wanted.items() if name in weights and tuple(weights[name].shape) == shape
    }
    if missing := sorted(wanted.keys() - fitting):
        raise EncoderError(
            f"{source}: {len(missing)} of {len(wanted)} weights of a BERT with {config.num_hidden_layers} layers "
            f"are absent or of another shape, for instance {missing[0]}. Expected a BERT as transformers exports it."
        )
    model.load_state_dict({name: weights[name].contiguous() for name in wanted})
    return model


def measure_difference(path: Path, model: Any, tokenizer: Any) -> float | None:
    """Return by how much the model's vectors differ at most from the ONNX file's; None: onnxruntime is missing."""
    try:
        from onnxruntime import InferenceSession
    except ImportError:
        return None
    session = InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    worst = 0.0
    for text, other in SAMPLES:
        inputs = tokenizer(text, other, return_tensors="pt")
        expected = session.run(None, {name: inputs[name].numpy() for name in names})[0]
        with torch.no_grad():
            seen = model(**{name: inputs[name] for name in names}).last_hidden_state.numpy()
        worst = max(worst, float(np.abs(seen - expected).max()))
    return worst


def _load_graph(path: Path) -> Any:
    try:
        import onnx
    except ImportError:
        raise EncoderError(
            f"{path}: the package onnx is needed to read it. Install it with `pip install 'rationalize[onnx]'`."
        ) from None
    return onnx.load(path).graph


def _check_precision(path: Path, graph: Any) -> None:
    from onnx import TensorProto

    whole = {"INT64", "INT32", "BOOL"}  # shapes and positions, which exporters store as well
    seen = {TensorProto.DataType.Name(each.data_type) for each in graph.initializer if len(each.dims) > 1}
    other = sorted(seen - whole - {"FLOAT"})
    if other:
        raise EncoderError(
            f"{path}: weights are of type {', '.join(other)}, expected FLOAT. A quantized or halved model cannot be "
            "trained further; take the file with single-precision weights."
        )


def _to_tensor(array: Any) -> Tensor:
    from onnx import numpy_helper

    return torch.from_numpy(np.array(numpy_helper.to_array(array)))
