"""How many layers an encoder has, for settings that count them. Asked before anything is loaded or trained."""

from __future__ import annotations

from rationalize.config import EncoderConfig
from rationalize.errors import EncoderError
from rationalize.models.tokenizer import FROM_SCRATCH, NAMED_ENCODERS, find_source

LAYERED = ("bert", "electra", "roberta", "xlm-roberta", "camembert")
"""Architectures whose layers can be read one by one."""

LAYERS_FIELD = "options.selection.layers"
"""The setting that ends selection at a layer."""


def find_depth(config: EncoderConfig) -> int | None:
    """Return the number of layers; None: the encoder can only be read as a whole."""
    if config.name in FROM_SCRATCH:
        return config.layers if config.name == "tiny" else None
    from transformers import AutoConfig

    try:
        architecture = AutoConfig.from_pretrained(find_source(config.name), trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise make_load_error(config.name, error) from error
    if architecture.model_type not in LAYERED:
        return None
    return int(config.keep_layers or architecture.num_hidden_layers)


def make_load_error(name: str, error: Exception) -> EncoderError:
    """Make the error for an encoder that transformers could not load."""
    return EncoderError(
        f"encoder {name!r} could not be loaded ({str(error).splitlines()[0]}). "
        f"Expected {', '.join(NAMED_ENCODERS)}, a local folder, or a Hugging Face id that can be reached "
        "from here; "
        "weights must be safetensors."
    )


def check_depth(wanted: int, depth: int | None, name: str, field: str) -> int:
    """Return the depth of an encoder that has at least the wanted layers; else raise an error about the field."""
    if depth is None:
        raise EncoderError(
            f"{field} is {wanted}, but the layers of {name} cannot be read one by one. Leave it out, or choose an "
            f"encoder of these kinds: tiny, {', '.join(LAYERED)}.",
            field=field,
        )
    if wanted > depth:
        raise EncoderError(
            f"{field} is {wanted}, but {name} has {depth} layers. Set {field} to {depth} or less.",
            field=field,
        )
    return depth
