"""`encoder.json` of a model folder: a transformer's architecture, by an allow-list of fields.

Nothing in it may name code, a kernel, a file or an address: only built-in text models, and only their own settings.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from rationalize.errors import ModelFormatError
from rationalize.files import read_bounded_json

MOST_BYTES = 256 * 1024
MOST_LAYERS = 1024
MOST = 2**31
LONGEST_TEXT, LONGEST_LIST, DEEPEST = 200, 10_000, 3
# What every configuration of transformers has besides its architecture. Not saved, and not believed when read.
UNSAID = frozenset(
    [
        "transformers_version",
        "architectures",
        "output_hidden_states",
        "output_attentions",
        "return_dict",
        "dtype",
        "torch_dtype",
        "id2label",
        "label2id",
        "problem_type",
        "_name_or_path",
        "use_cache",
    ]
)
_OTHER_SENSES = ("backbone", "vision", "audio", "image", "timm", "speech")
ALSO_KNOWN = frozenset({"position_embedding_type"})  # of older releases, still read by `TransformerEncoder`


def list_settings(config: Any) -> dict[str, Any]:
    """Return the fields of a transformer's configuration that decide its architecture."""
    known = _list_fields(config.model_type)
    found = {name: value for name, value in config.to_dict().items() if name in known and name not in UNSAID}
    return {"model_type": config.model_type, **found}


def read_architecture(path: Path) -> Any:
    """Read an `encoder.json` as a transformer's configuration.

    Raises:
        ModelFormatError: If it has a field that is not on the list, or a value of the wrong kind.
    """
    described = read_bounded_json(path, MOST_BYTES, ModelFormatError)
    if not isinstance(described, dict):
        raise ModelFormatError(f"{path}: expected fields by name, got {type(described).__name__}.")
    kind = described.get("model_type")
    if not isinstance(kind, str) or not is_text_model(kind):
        raise ModelFormatError(
            f"{path}: model_type: saw {_show(kind)}, expected a text model of transformers."
        )
    known = _list_fields(kind)
    chosen = {name: value for name, value in described.items() if name not in UNSAID}
    for name, value in chosen.items():
        if name not in known:
            raise ModelFormatError(f"{path}: {_show(name)}: not a setting of {kind}; refused.")
        _check_value(path, name, value, known[name])
    from transformers import AutoConfig

    try:
        return AutoConfig.for_model(**chosen)
    except Exception as error:  # each architecture checks its settings in its own way
        raise ModelFormatError(f"{path}: not a valid {kind}: {_show(str(error))}.") from error


def is_text_model(kind: str) -> bool:
    """Return whether transformers itself has such a model, and it reads a vocabulary and nothing else."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    if kind not in CONFIG_MAPPING_NAMES or kind not in MODEL_MAPPING_NAMES:
        return False
    fields = _list_fields(kind)
    return "vocab_size" in fields and not any(word in name for name in fields for word in _OTHER_SENSES)


def _list_fields(kind: str) -> dict[str, Any]:
    """Return a model's public settings with their defaults."""
    from transformers import AutoConfig

    defaults = AutoConfig.for_model(kind).to_dict()
    public = {name: value for name, value in defaults.items() if not name.startswith("_")}
    return {**dict.fromkeys(ALSO_KNOWN), **public}


def _check_value(path: Path, name: str, value: Any, default: Any) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    fits = (
        value is None
        or default is None
        or isinstance(value, type(default))
        or (isinstance(default, float) and whole)
        or (
            isinstance(default, int) and isinstance(value, list)
        )  # one number per layer, in some architectures
    )
    if isinstance(value, bool) != isinstance(default, bool) and None not in (value, default):
        fits = False
    if whole and "layer" in name and not 0 <= value <= MOST_LAYERS:
        fits = False
    if not fits or not _is_small(value, DEEPEST):
        raise ModelFormatError(
            f"{path}: {name}: saw {_show(value)}, expected something like {_show(default)}, of a usual size."
        )


def _is_small(value: Any, depth: int) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    if isinstance(value, int | float):
        return math.isfinite(value) and abs(value) <= MOST
    if isinstance(value, list | dict):
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        secret = isinstance(value, dict) and any(str(name).startswith("_") for name in value)
        return (
            depth > 0
            and len(value) <= LONGEST_LIST
            and not secret
            and all(_is_small(each, depth - 1) for each in inside)
        )
    return value is None


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
