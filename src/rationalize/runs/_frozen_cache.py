"""Frozen layers read every full text once, before training; training begins with what they made of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from torch import Tensor

from rationalize.config import TrainingConfig
from rationalize.models.frozen import freeze
from rationalize.models.frozen_states import keep_states
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.runs.model_folder import Model
from rationalize.text.batch import Batch, InputRow
from rationalize.text.windows import Window
from rationalize.version import __version__


@contextmanager
def remember_frozen(
    config: TrainingConfig, model: Model, pools: Mapping[str, Sequence[InputRow]], folder: Path
) -> Iterator[None]:
    """Inside the block, full texts of the pools, if any, are read from the frozen layers on, as the settings say."""
    encoders = [each for each in model.method.modules() if isinstance(each, TransformerEncoder)]
    if not (config.cache_frozen and pools):
        encoders = []
    for encoder in encoders:
        _attach(encoder, config.freeze_layers or 0, _list_windows(pools), folder, model.text.pad_id)
    try:
        yield
    finally:
        for encoder in encoders:
            encoder.states = None


def _attach(
    encoder: TransformerEncoder, frozen: int, windows: Sequence[Window], folder: Path, pad_id: int
) -> None:
    layers = min(frozen, encoder.depth or frozen)
    device = next(encoder.parameters()).device

    def read(batch: Batch) -> Tensor:
        with freeze(encoder):
            return encoder.read_to(batch.to(device), layers)

    encoder.states = keep_states(
        folder,
        _identify(encoder, layers, device.type),
        windows,
        read,
        layers=layers,
        width=encoder.hidden_size,
        pad_id=pad_id,
    )


def _list_windows(pools: Mapping[str, Sequence[InputRow]]) -> list[Window]:
    """List every window that training may read; one that is in several pools is found to be the same later."""
    rows = (row for pool in pools.values() for row in pool)
    return [each.window for row in rows for each in (row, *row.more)]


def _identify(encoder: TransformerEncoder, layers: int, device: str) -> str:
    """Return a digest of the weights that do not learn, and of where they run."""
    frozen = {
        name: weight
        for name, weight in encoder.model.state_dict().items()
        if not name.startswith("encoder.layer.") or int(name.split(".")[2]) < layers
    }
    digest = hashlib.sha256(f"{__version__} {device} {layers}".encode())
    for name, weight in sorted(frozen.items()):
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
