"""Turn a model folder into one whose encoders are ONNX graphs: same explanations, another engine below."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch

from rationalize.errors import ConfigError, EncoderError
from rationalize.methods.base import Method
from rationalize.methods.full_text.full_text import FullText
from rationalize.models.encoder import EncoderFactory
from rationalize.models.onnx_encoder import Graph, OnnxEncoder, name_graph
from rationalize.models.onnx_export import (
    describe_encoder,
    find_obstacle,
    list_embeddings,
    measure_difference_of,
    write_graph,
)
from rationalize.models.reading import Encoder
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.models.weights import collect_weights, load_weights
from rationalize.runs.model_folder import Model, ModelConfig, build_method, save_model
from rationalize.text.batch import Batch, InputRow, collate
from rationalize.types import Example

TOLERANCE = 1e-4
SAMPLES = (
    Example("0", "A joy to watch.", query="Is it good?"),
    Example(
        "1", "The plot drags, and nobody in it is worth the two hours; I left before the end.", query="Why?"
    ),
    Example(
        "2", "Shot in Prague, in black and white, by a cast of friends.", query="Where was the film shot?"
    ),
)
"""Texts on which the exported model is compared with its origin."""
NEEDS = {
    "gradient_x_input": "gradients",
    "integrated_gradients": "gradients",
    "attention": "the weights of attention",
}


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """A model that was exported.

    Attributes:
        folder: Where it is.
        bytes: Size of the folder.
        difference: By how much its vectors differ at most from those of torch, relative to the largest (or 1).
    """

    folder: Path
    bytes: int
    difference: float


def export_model(
    model: Model, folder: Path, card: Callable[[ModelConfig], str], *, int8: bool = False
) -> ExportedModel:
    """Write a model folder with graphs in place of encoders, compared with the model before it is written.

    Args:
        model: The model.
        folder: Where to; an old folder is replaced.
        card: Renders the new folder's card.
        int8: Round the encoders' matrices to 8 bits.

    Raises:
        ConfigError: If the model cannot be exported, with the reason; or if a package is missing.
        EncoderError: If an encoder's architecture cannot be exported, or reads otherwise afterwards.
    """
    refuse_obstacles(model)
    with tempfile.TemporaryDirectory() as temporary:
        exported, difference = _convert(model, Path(temporary), int8=int8)
        if not int8 and not difference <= TOLERANCE:
            raise EncoderError(
                f"exported, its vectors differ by up to {difference:.2g} of their size, expected at most "
                f"{TOLERANCE:g}. Nothing was written; please report it with the versions of torch, transformers "
                "and onnxruntime."
            )
        _try_out(exported)
        save_model(folder, exported, card(exported.config))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return ExportedModel(folder, size, difference)


def refuse_obstacles(model: Model) -> None:
    """Raise a ConfigError with the reason if a model cannot be exported."""
    reasons = [find_obstacle(encoder) for encoder in list_encoders(model.method).values()]
    if model.config.export is not None:
        reasons = ["it is an export already; export the model that it was made from"]
    elif isinstance(model.method, FullText) and model.method.config.attribution in NEEDS:
        kind = model.method.config.attribution
        reasons.append(
            f"its explanations (options.attribution: {kind}) need {NEEDS[kind]}, which a graph does not give"
        )
    found = next((reason for reason in reasons if reason is not None), None)
    if found is not None:
        raise ConfigError(f"this {model.config.method} model cannot be exported: {found}.")


def list_encoders(method: Method) -> dict[str, Encoder]:
    """Return a method's encoders by name, shared ones once."""
    return {name: module for name, module in method.named_modules() if isinstance(module, Encoder)}


def _convert(model: Model, folder: Path, *, int8: bool) -> tuple[Model, float]:
    """Build the same model on graphs, which are written to the folder; also return how much these differ."""
    encoders = {
        name: cast(TransformerEncoder, deepcopy(each)).cpu().eval()
        for name, each in list_encoders(model.method).items()
    }
    described = describe_encoder(next(iter(encoders.values())), list(encoders), int8=int8)
    config = model.config.model_copy(update={"export": described})
    method = _copy_heads(model, config, encoders)
    difference, batch = 0.0, _make_batch(model)
    for place, (name, encoder) in enumerate(encoders.items()):
        write_graph(encoder, folder / name_graph(place), int8=int8)
        graphed = cast(OnnxEncoder, method.get_submodule(name))
        graphed.graph = Graph(folder / name_graph(place))
        difference = max(difference, measure_difference_of(encoder, graphed, batch))
    return Model(config, method, model.tokenizer), difference


@torch.no_grad()
def _copy_heads(model: Model, config: ModelConfig, encoders: dict[str, TransformerEncoder]) -> Method:
    """Build the method on encoders without graphs; everything else has the model's weights."""
    with torch.random.fork_rng():
        method = build_method(config, EncoderFactory(config.encoder, model.tokenizer, export=config.export))
    weights = {
        f"{name}.{part}": tensor
        for name, encoder in encoders.items()
        for part, tensor in list_embeddings(encoder).items()
    }
    inside = tuple(f"{name}." for name in encoders)
    weights |= {
        name: tensor.cpu()
        for name, tensor in collect_weights(model.method).items()
        if not name.startswith(inside)
    }
    load_weights(method, weights, "the exported model")
    return method.eval()


def _make_batch(model: Model) -> Batch:
    windows = [each.windows[0] for each in model.text.encode_all(SAMPLES, truncate=True)]
    return collate([InputRow("", window) for window in windows], model.text.pad_id)


def _try_out(model: Model) -> None:
    """Explain the samples: a method that does not only read is refused now, not when it is used."""
    try:
        list(model.engine().explain(SAMPLES))
    except EncoderError as error:
        raise ConfigError(f"this {model.config.method} model cannot be exported: {error}") from error
