"""An encoder that runs as an ONNX graph: for explaining, not for training.

The graph starts at the embeddings, so that every masking stays as it is: pieces are embedded, blended or hidden in
torch, as with any other encoder, and the graph reads what is left.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import Field
from torch import Tensor, nn

from rationalize.config import Strict
from rationalize.errors import EncoderError, ModelFormatError
from rationalize.models._onnx_packages import require_package
from rationalize.models.reading import Encoder, Reading
from rationalize.text.batch import Batch

INPUTS = ("embedded", "attention", "token_types", "positions")
OUTPUTS = ("hidden", "pooled")
SHALLOW = "shallow"
"""Output of the first layers, in graphs of encoders that select by them."""
DOMAINS = {"", "ai.onnx", "com.microsoft"}
"""Operators that onnxruntime itself has; others would come with code of their own."""
Size = Annotated[int, Field(gt=0)]


class OnnxExport(Strict):
    """What is written about the graphs of an exported model."""

    int8: bool
    """Whether its matrices were rounded to 8 bits."""
    encoders: list[str]
    """Names of the encoders in the method; the graph of the first is `encoder-0.onnx`."""
    vocabulary: Size
    embedding_size: Size
    hidden_size: Size
    packs: bool
    layers: Size | None = None
    """The layer whose vectors the graphs give, too; None: they give those of the last alone."""


def name_graph(place: int) -> str:
    """Return the file name of an encoder's graph."""
    return f"encoder-{place}.onnx"


class OnnxEncoder(Encoder):
    """Embeddings in torch, everything after them in a graph; threads can share it."""

    def __init__(self, described: OnnxExport) -> None:
        super().__init__()
        self.hidden_size, self.packs, self.depth = described.hidden_size, described.packs, described.layers
        table = torch.empty(described.vocabulary, described.embedding_size)
        self.table = nn.Parameter(table, requires_grad=False)
        self.hidden_piece = nn.Parameter(torch.empty(described.embedding_size), requires_grad=False)
        self.graph: Graph | None = None

    def embed(self, input_ids: Tensor) -> Tensor:
        return nn.functional.embedding(input_ids, self.table)

    def mask_embedding(self) -> Tensor:
        return self.hidden_piece

    def forward(
        self, embedded: Tensor, attention: Tensor, token_types: Tensor, positions: Tensor | None = None
    ) -> Reading:
        hidden, pooled = self._run(OUTPUTS, embedded, attention, token_types, positions)
        return Reading(hidden, pooled)

    def read_to(self, batch: Batch, layers: int) -> Tensor:
        (hidden,) = self._run((SHALLOW,), self.embed(batch.input_ids), batch.attention, batch.token_types)
        return hidden

    def read_past(self, batch: Batch, layers: int) -> tuple[Tensor, Reading]:
        wanted, embedded = (SHALLOW, *OUTPUTS), self.embed(batch.input_ids)
        shallow, hidden, pooled = self._run(wanted, embedded, batch.attention, batch.token_types)
        return shallow, Reading(hidden, pooled)

    def _run(
        self,
        wanted: tuple[str, ...],
        embedded: Tensor,
        attention: Tensor,
        token_types: Tensor,
        positions: Tensor | None = None,
    ) -> list[Tensor]:
        if self.graph is None:
            raise EncoderError("an exported encoder was asked to read before its graph was loaded.")
        if torch.is_grad_enabled() and (embedded.requires_grad or attention.requires_grad):
            raise EncoderError(
                "an exported encoder has no gradients; use the model that it was exported from."
            )
        if positions is None:
            positions = torch.arange(embedded.shape[1], device=embedded.device).expand(embedded.shape[:2])
        given = (embedded, attention.to(embedded.dtype), token_types.long(), positions.long())
        found = self.graph.run(wanted, dict(zip(INPUTS, given, strict=True)))
        return [each.to(embedded.device) for each in found]


class Graph:
    """A graph that is ready to run."""

    def __init__(self, path: Path) -> None:
        runtime, onnx = require_package("onnxruntime"), require_package("onnx")
        content = path.read_bytes()
        self.path, self.digest = path, hashlib.sha256(content).hexdigest()
        # What is checked is what runs: both get these bytes, whatever becomes of the file.
        try:
            model = onnx.load_model_from_string(content)
            _check_graph(model, path)
            self._session = _start(runtime, content)
            # The runtime always runs a whole graph, and selection alone needs no layer above its own.
            shallow = SHALLOW in {each.name for each in model.graph.output}
            self._lower = _start(runtime, _cut_at(model, SHALLOW)) if shallow else None
        except ModelFormatError:
            raise
        except Exception as error:  # protobuf and onnxruntime have errors of their own
            raise ModelFormatError(f"{path}: not a graph that can be run: {str(error)[:200]}.") from error

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self  # it never changes

    def run(self, wanted: tuple[str, ...], given: dict[str, Tensor]) -> list[Tensor]:
        """Return the wanted outputs for the inputs (`INPUTS`), of which a graph may need only some."""
        session = self._lower if wanted == (SHALLOW,) and self._lower is not None else self._session
        names = [each.name for each in session.get_inputs()]
        arrays = {name: given[name].detach().cpu().contiguous().numpy() for name in names}
        return [torch.from_numpy(each) for each in session.run(wanted, arrays)]

    def copy_to(self, path: Path) -> None:
        """Write the graph's file to another place.

        Raises:
            ModelFormatError: If the file is gone, or is no longer the one that was loaded.
        """
        content = self.path.read_bytes() if self.path.is_file() else b""
        if hashlib.sha256(content).hexdigest() != self.digest:
            raise ModelFormatError(f"{self.path}: gone or changed since it was loaded. Load the model again.")
        path.write_bytes(content)


def _start(runtime: Any, content: bytes) -> Any:
    return runtime.InferenceSession(content, _make_options(runtime), providers=["CPUExecutionProvider"])


def _cut_at(model: Any, output: str) -> bytes:
    """Return the part of a graph that one of its outputs needs; the model is changed."""
    graph, needed, kept = model.graph, {output}, []
    for node in reversed(graph.node):  # every node stands after those that it needs
        if needed & set(node.output):
            kept.append(node)
            needed |= set(node.input)
    for field, parts in (
        (graph.node, kept[::-1]),
        (graph.initializer, [each for each in graph.initializer if each.name in needed]),
        (graph.input, [each for each in graph.input if each.name in needed]),
        (graph.output, [each for each in graph.output if each.name == output]),
    ):
        copies = [type(each).FromString(each.SerializeToString()) for each in parts]
        del field[:]
        field.extend(copies)
    content: bytes = model.SerializeToString()
    return content


def _make_options(runtime: Any) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()  # which follows OMP_NUM_THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Idle threads that wait actively would take the cores from torch, which has the next turn.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _check_graph(model: Any, path: Path) -> None:
    """Refuse a graph that needs other files or foreign operators, could run for ever, or is plainly none of ours."""
    graph = model.graph
    names = {each.name for each in graph.input} - {each.name for each in graph.initializer}
    outputs = tuple(each.name for each in graph.output)
    if not names <= set(INPUTS) or outputs not in (OUTPUTS, (*OUTPUTS, SHALLOW)):
        raise ModelFormatError(
            f"{path}: reads {sorted(names)[:9]} and gives {list(outputs)[:9]}, expected some of {list(INPUTS)} and "
            f"{list(OUTPUTS)}."
        )
    if model.functions or not {each.domain for each in model.opset_import} <= DOMAINS:
        raise ModelFormatError(f"{path}: has operators that are not onnxruntime's own; refused.")
    attributes = [each for node in graph.node for each in node.attribute]
    if any(each.graphs or each.g.node for each in attributes):
        raise ModelFormatError(f"{path}: has loops or branches, which no export of ours has; refused.")
    sparse = [part for each in graph.sparse_initializer for part in (each.values, each.indices)]
    inside = [tensor for each in attributes for tensor in (each.t, *each.tensors)]
    if any(each.external_data or each.data_location for each in (*graph.initializer, *sparse, *inside)):
        raise ModelFormatError(f"{path}: refers to other files; refused. Expected all weights inside.")
