"""Round a graph's matrix products to 8 bits, row by row.

Weights are rounded once, with one scale per column. What they are multiplied with is rounded when it is known, with one
scale per row, that is, per word piece. The usual dynamic rounding has one scale for a whole batch, so that one large
number anywhere costs all others precision, and a text's answer depends on the texts beside it; one per row costs
the same time, comes closer to the original, and keeps texts apart.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rationalize.models._onnx_packages import require_package

LEVELS = 127
LEAST = 1e-12
DOMAIN = "com.microsoft"


def round_products(source: Path, target: Path) -> None:
    """Write the graph with every product of activations and weights in 8 bits; other products stay exact."""
    onnx = require_package("onnx")
    model = onnx.load(source)
    _Rounding(onnx, model.graph).apply()
    if DOMAIN not in {each.domain for each in model.opset_import}:
        model.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))
    onnx.save(model, target)


class _Rounding:
    """One pass over a graph's nodes."""

    def __init__(self, onnx: Any, graph: Any) -> None:
        self.onnx, self.graph = onnx, graph
        self.matrices = {each.name: each for each in graph.initializer if len(each.dims) == 2}
        self.constants: dict[str, np.ndarray] = {}
        self.nodes: list[Any] = []
        self.rounded: dict[
            str, str
        ] = {}  # by input: several products share one, as those of query, key and value

    def apply(self) -> None:
        """Replace the nodes and the weights."""
        for node in self.graph.node:
            if node.op_type == "MatMul" and node.input[1] in self.matrices:
                self._replace(node, self._read(node.input[1]), node.output[0])
            elif node.op_type == "Gemm" and self._is_plain(node):
                transposed = any(each.name == "transB" and each.i for each in node.attribute)
                weights = self._read(node.input[1])
                product = f"{node.output[0]}/product"
                self._replace(node, weights.T if transposed else weights, product)
                self._add("Add", [product, node.input[2]], node.output[0])
            else:
                self.nodes.append(node)
        del self.graph.node[:]
        self.graph.node.extend(self.nodes)
        used = {name for node in self.nodes for name in node.input}
        kept = [each for each in self.graph.initializer if each.name in used]
        made = [self.onnx.numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        del self.graph.initializer[:]
        self.graph.initializer.extend([*kept, *made])

    def _is_plain(self, node: Any) -> bool:
        """Return whether a Gemm is a linear layer: input times weights plus bias."""
        values = {each.name: each for each in node.attribute}
        scaled = any(name in values and values[name].f != 1 for name in ("alpha", "beta"))
        turned = "transA" in values and values["transA"].i
        return node.input[1] in self.matrices and len(node.input) == 3 and not scaled and not turned

    def _read(self, name: str) -> np.ndarray:
        array: np.ndarray = self.onnx.numpy_helper.to_array(self.matrices[name])
        return array

    def _replace(self, node: Any, weights: np.ndarray, output: str) -> None:
        """Add a product in 8 bits: rounded input × rounded weights × scale of the column × scale of the row."""
        rows = self._round_input(node.input[0], len(weights))
        scales = np.abs(weights).max(0) / LEVELS
        scales = np.where(scales > 0, scales, 1).astype(np.float32)
        levels = np.rint(weights / scales).clip(-LEVELS, LEVELS).astype(np.int8)
        matrix, column = self._keep(f"{output}/levels", levels), self._keep(f"{output}/scales", scales)
        one, zero = self._keep("one", np.float32(1)), self._keep("zero", np.uint8(128))
        self._add(
            "MatMulIntegerToFloat",
            [f"{rows}/levels", matrix, one, column, zero],
            f"{output}/raw",
            domain=DOMAIN,
        )
        self._add("Mul", [f"{output}/raw", f"{rows}/column"], f"{output}/flat")
        width = self._keep(f"width {weights.shape[1]}", np.array([weights.shape[1]]))
        self._add("Concat", [f"{rows}/leading", width], f"{output}/shape", axis=0)
        self._add("Reshape", [f"{output}/flat", f"{output}/shape"], output)

    def _round_input(self, name: str, width: int) -> str:
        """Add nodes that round an input row by row, once; return what their outputs' names begin with."""
        if name in self.rounded:
            return self.rounded[name]
        rows = self.rounded[name] = f"{name}/rounded"
        flat = self._keep(f"flat {width}", np.array([-1, width]))
        unit, least = self._keep("unit", np.float32(1 / LEVELS)), self._keep("least", np.float32(LEAST))
        first, last = self._keep("first", np.array([0])), self._keep("last", np.array([-1]))
        zero, second = self._keep("zero", np.uint8(128)), self._keep("second", np.array([1]))
        self._add("Shape", [name], f"{rows}/shape")
        self._add("Slice", [f"{rows}/shape", first, last], f"{rows}/leading")
        self._add("Reshape", [name, flat], f"{rows}/flat")
        self._add("Abs", [f"{rows}/flat"], f"{rows}/sizes")
        self._add("ReduceMax", [f"{rows}/sizes"], f"{rows}/largest", axes=[1], keepdims=0)
        self._add("Mul", [f"{rows}/largest", unit], f"{rows}/step")
        self._add("Max", [f"{rows}/step", least], f"{rows}/scale")
        self._add("Shape", [f"{rows}/scale"], f"{rows}/count")
        self._add("Expand", [zero, f"{rows}/count"], f"{rows}/zeros")
        self._add(
            "QuantizeLinear", [f"{rows}/flat", f"{rows}/scale", f"{rows}/zeros"], f"{rows}/levels", axis=0
        )
        self._add("Unsqueeze", [f"{rows}/scale", second], f"{rows}/column")
        return rows

    def _add(self, kind: str, inputs: list[str], output: str, **settings: Any) -> None:
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [output], **settings))

    def _keep(self, name: str, array: Any) -> str:
        name = f"rounding/{name}"
        self.constants.setdefault(name, np.asarray(array))
        return name
