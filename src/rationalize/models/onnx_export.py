"""Write an encoder as an ONNX graph, in single precision or with matrices of 8 bits, and compare the two."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from rationalize.errors import EncoderError
from rationalize.models._attending import attend_by
from rationalize.models._graph_attention import NAME, attend_in_graph
from rationalize.models._onnx_packages import require_package
from rationalize.models._row_rounding import round_products
from rationalize.models.masking import read_masked
from rationalize.models.onnx_encoder import INPUTS, OUTPUTS, SHALLOW, OnnxExport
from rationalize.models.reading import Encoder
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.text.batch import Batch

OPSET = 17
LARGEST = 2**31 - 2**24
"""Most bytes of weights: a graph is one message, which may have 2 GiB."""


class _Graphed(nn.Module):
    """What the graph computes; with `layers`, also what the first layers make of the pieces."""

    def __init__(self, encoder: TransformerEncoder, layers: int | None) -> None:
        super().__init__()
        self.encoder, self.layers = encoder, layers

    def forward(
        self, embedded: Tensor, attention: Tensor, token_types: Tensor, positions: Tensor
    ) -> tuple[Tensor, ...]:
        seen: list[Tensor] = []
        with ExitStack() as stack:
            if can_fuse(self.encoder):
                stack.enter_context(attend_by(self.encoder.model, NAME, attend_in_graph))
            if self.layers is not None:
                layer = self.encoder.model.encoder.layer[self.layers - 1]
                stack.enter_context(
                    layer.register_forward_hook(lambda module, given, out: seen.append(_first(out)))
                )
            places = positions if self.encoder.packs else None
            reading = self.encoder(embedded, attention, token_types, places)
        return (reading.hidden, reading.pooled, *seen)


def _first(out: Any) -> Any:
    return out[0] if isinstance(out, tuple) else out


def can_fuse(encoder: TransformerEncoder) -> bool:
    """Return whether attention can be one operator: as in BERT and its kin, where every piece sees the same ones."""
    return encoder.has_gates and encoder.packs and not encoder.causal


def find_obstacle(encoder: Encoder) -> str | None:
    """Return why an encoder cannot become a graph; None: nothing is in the way."""
    if not isinstance(encoder, TransformerEncoder):
        return (
            f"its encoder ({type(encoder).__name__}) is not a transformer, and only transformers are exported"
        )
    table = encoder.model.get_input_embeddings().weight
    size = 4 * (sum(each.numel() for each in encoder.parameters()) - table.numel())
    if size > LARGEST:
        return f"its encoder has {size / 2**30:.1f} GiB of weights, and a graph holds at most 2"
    return None


def describe_encoder(
    encoder: TransformerEncoder, names: list[str], *, int8: bool, layers: int | None
) -> OnnxExport:
    """Describe the encoders with these names, which are all alike, for the exported model's config."""
    vocabulary, width = encoder.model.get_input_embeddings().weight.shape
    return OnnxExport(
        int8=int8,
        encoders=names,
        vocabulary=vocabulary,
        embedding_size=width,
        hidden_size=encoder.hidden_size,
        packs=encoder.packs,
        layers=layers,
    )


@torch.no_grad()
def list_embeddings(encoder: TransformerEncoder) -> dict[str, Tensor]:
    """Return the tensors of an `OnnxEncoder`: the embedding of every piece, and that of a hidden one."""
    pieces = len(encoder.model.get_input_embeddings().weight)
    everything = encoder.embed(torch.arange(pieces, device=encoder.mask_embedding().device))
    return {"table": everything.detach(), "hidden_piece": encoder.mask_embedding().detach()}


def write_graph(
    encoder: TransformerEncoder, path: Path, *, int8: bool = False, layers: int | None = None
) -> None:
    """Write the graph of an encoder that is on the CPU and in evaluation mode; it also gives that layer's vectors.

    Raises:
        EncoderError: If its architecture cannot be exported.
        ConfigError: If a package is missing.
    """
    require_package("onnx")
    shallow = () if layers is None else (SHALLOW,)
    single = path.with_suffix(".single.onnx") if int8 else path
    axes = {name: {0: "rows", 1: "pieces"} for name in (*INPUTS, "hidden", *shallow)}
    try:
        # The exporter's advice to use its successor, and its doubts about branches that depend on settings alone.
        with torch.no_grad(), warnings.catch_warnings(action="ignore"):
            torch.onnx.export(
                _Graphed(encoder, layers).eval(),
                _make_inputs(encoder),
                single,
                dynamo=False,  # the successor needs onnxscript and gives the same graph
                opset_version=OPSET,
                input_names=list(INPUTS),
                output_names=[*OUTPUTS, *shallow],
                dynamic_axes={**axes, "pooled": {0: "rows"}},
            )
    except Exception as error:  # each architecture fails in its own way
        reason = str(error).strip().splitlines()[0][:200]
        kind = encoder.model.config.model_type
        raise EncoderError(
            f"a {kind} encoder could not be exported: {type(error).__name__}: {reason}"
        ) from error
    if int8:
        round_products(single, path)
        single.unlink()


def _make_inputs(encoder: TransformerEncoder) -> tuple[Tensor, ...]:
    """Make inputs to trace: two rows of different lengths."""
    rows, pieces = 2, 7
    width = encoder.model.get_input_embeddings().weight.shape[1]
    attention = torch.ones(rows, pieces)
    attention[1, 4:] = 0
    places = torch.arange(pieces).expand(rows, pieces).contiguous()
    return torch.zeros(rows, pieces, width), attention, torch.zeros(rows, pieces, dtype=torch.long), places


@torch.no_grad()
def measure_difference_of(encoder: Encoder, graphed: Encoder, batch: Batch) -> float:
    """Return by how much the vectors of two encoders differ at most, relative to the largest (or 1).

    Compared are whole texts and texts with every other piece hidden, in each way of hiding.
    """
    worst = 0.0
    half = batch.selectable & (torch.arange(batch.words.shape[1]) % 2 == 0)
    for mask, masking in (
        (batch.selectable, "attention"),
        (half, "attention"),
        (half, "mix"),
        (half, "zero"),
    ):
        first, second = (read_masked(each, batch, mask, masking) for each in (encoder, graphed))
        seen = batch.attention & (half | ~batch.selectable | (masking != "attention"))
        scale = max(1.0, float(first.hidden[seen].abs().max()))
        gaps = (first.hidden - second.hidden)[seen].abs().max(), (first.pooled - second.pooled).abs().max()
        worst = max(worst, *(float(gap) / scale for gap in gaps))
    return worst
