"""A tiny BERT with random weights as an ONNX graph that runs, written node by node as exporters write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertModel

from helpers import tiny_tokenizer

WIDTH, HEADS, LAYERS, POSITIONS = 8, 2, 2, 64


def make_bert(vocabulary: int) -> Any:
    """The model as transformers has it."""
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=3 * WIDTH,
        max_position_embeddings=POSITIONS,
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for number, each in enumerate(model.parameters()):
            each.copy_(torch.randn(each.shape, generator=torch.Generator().manual_seed(number)) / 4)
    return model


def save_carrier(folder: Path) -> Any:
    """Write config, tokenizer and `onnx/model.onnx` as a carrier has them; return the model."""
    tokenizer = tiny_tokenizer()
    model = make_bert(len(tokenizer))
    (folder / "onnx").mkdir(parents=True)
    model.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    save_onnx(model, folder / "onnx" / "model.onnx")
    return model


def save_onnx(model: Any, path: Path) -> None:
    """Write the graph: names as in transformers, but linear layers' matrices transposed and numbered."""
    import onnx

    onnx.save(_Graph(model).build(), path)


class _Graph:
    def __init__(self, model: Any) -> None:
        self.weights = {name: each.detach().numpy() for name, each in model.state_dict().items()}
        self.config = model.config
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        output = f"value_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def constant(self, value: Any, name: str | None = None) -> str:
        name = name or f"onnx::Constant_{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def weight(self, name: str) -> str:
        return self.constant(self.weights[name], name)

    def linear(self, values: str, name: str) -> str:
        matrix = self.constant(self.weights[f"{name}.weight"].T, f"onnx::MatMul_{len(self.constants)}")
        return self.node("Add", self.weight(f"{name}.bias"), self.node("MatMul", values, matrix))

    def normalize(self, values: str, name: str) -> str:
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.node("LayerNormalization", values, scale, shift, epsilon=self.config.layer_norm_eps)

    def heads(self, values: str, order: list[int]) -> str:
        shape = self.constant(np.array([0, 0, HEADS, WIDTH // HEADS]))
        return self.node("Transpose", self.node("Reshape", values, shape), perm=order)

    def attend(self, values: str, bias: str, name: str) -> str:
        query = self.heads(self.linear(values, f"{name}.query"), [0, 2, 1, 3])
        key = self.heads(self.linear(values, f"{name}.key"), [0, 2, 3, 1])
        value = self.heads(self.linear(values, f"{name}.value"), [0, 2, 1, 3])
        scale = self.constant(np.float32((WIDTH // HEADS) ** -0.5))
        scores = self.node("Add", self.node("Mul", self.node("MatMul", query, key), scale), bias)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), value)
        return self.node(
            "Reshape",
            self.node("Transpose", mixed, perm=[0, 2, 1, 3]),
            self.constant(np.array([0, 0, WIDTH])),
        )

    def layer(self, values: str, bias: str, name: str) -> str:
        attended = self.linear(
            self.attend(values, bias, f"{name}.attention.self"), f"{name}.attention.output.dense"
        )
        values = self.normalize(self.node("Add", attended, values), f"{name}.attention.output.LayerNorm")
        wide = self.linear(values, f"{name}.intermediate.dense")
        halves = self.node("Erf", self.node("Div", wide, self.constant(np.float32(2**0.5))))
        gelu = self.node("Mul", wide, self.node("Add", halves, self.constant(np.float32(1))))
        gelu = self.node("Mul", gelu, self.constant(np.float32(0.5)))
        narrow = self.linear(gelu, f"{name}.output.dense")
        return self.normalize(self.node("Add", narrow, values), f"{name}.output.LayerNorm")

    def build(self) -> Any:
        from onnx import TensorProto, helper, numpy_helper

        words = self.node("Gather", self.weight("embeddings.word_embeddings.weight"), "input_ids")
        types = self.node("Gather", self.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
        # 0, 1, 2 … for as many pieces as there are: the running count of ones, less one.
        ones = self.node("Add", self.node("Sub", "input_ids", "input_ids"), self.constant(np.int64(1)))
        counted = self.node("CumSum", ones, self.constant(np.int64(1)))
        positions = self.node("Sub", counted, self.constant(np.int64(1)))
        places = self.node("Gather", self.weight("embeddings.position_embeddings.weight"), positions)
        values = self.node("Add", self.node("Add", words, types), places)
        values = self.normalize(values, "embeddings.LayerNorm")
        hidden = self.node("Sub", self.constant(np.int64(1)), "attention_mask")
        bias = self.node(
            "Mul", self.node("Cast", hidden, to=TensorProto.FLOAT), self.constant(np.float32(-1e9))
        )
        bias = self.node("Unsqueeze", bias, self.constant(np.array([1, 2])))
        for number in range(LAYERS):
            values = self.layer(values, bias, f"encoder.layer.{number}")
        names = ("input_ids", "attention_mask", "token_type_ids")
        graph = helper.make_graph(
            self.nodes,
            "bert",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "pieces"]) for name in names],
            [helper.make_tensor_value_info(values, TensorProto.FLOAT, ["batch", "pieces", WIDTH])],
            [numpy_helper.from_array(each, name) for name, each in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
