"""The graphs of an exported model's folder: written, loaded, and where they run."""

from __future__ import annotations

from pathlib import Path

import torch

from rationalize.errors import ConfigError, EncoderError, ModelFormatError
from rationalize.methods.base import Method
from rationalize.models.onnx_encoder import Graph, OnnxEncoder, OnnxExport, name_graph


def choose_place(wanted: str, found: torch.device, export: OnnxExport | None) -> torch.device:
    """Return the device to use, given its name and what was found for it: graphs run on the CPU alone."""
    if export is None or found.type == "cpu":
        return found
    if wanted != "auto":
        raise ConfigError(
            f"device: {wanted!r}, but this model is exported and runs on cpu. Use the model that it was made from.",
            field="device",
        )
    return torch.device("cpu")


def save_graphs(method: Method, folder: Path) -> None:
    """Write the graphs of a method's encoders, if it has any, to a model folder."""
    for place, (name, encoder) in enumerate(_list_encoders(method).items()):
        if encoder.graph is None:
            raise EncoderError(f"{name}: has no graph to save.")
        encoder.graph.copy_to(folder / name_graph(place))


def attach_graphs(method: Method, export: OnnxExport | None, folder: Path) -> None:
    """Load the graphs of an exported model's encoders; other models have none.

    Raises:
        ModelFormatError: If the method has other encoders than those that were exported, or a graph cannot be run.
        ConfigError: If a package is missing.
    """
    encoders, named = _list_encoders(method), [] if export is None else export.encoders
    if list(encoders) != named:
        raise ModelFormatError(
            f"{folder / 'config.json'}: export.encoders: saw {str(named)[:200]}, expected {list(encoders)[:9]}. "
            "Export the model again."
        )
    for place, encoder in enumerate(encoders.values()):
        encoder.graph = Graph(folder / name_graph(place))


def _list_encoders(method: Method) -> dict[str, OnnxEncoder]:
    return {name: each for name, each in method.named_modules() if isinstance(each, OnnxEncoder)}
