"""What a model folder must be before anything in it is used: exactly its files, whole, small enough, of known kinds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rationalize.errors import ModelFormatError
from rationalize.files import MANIFEST, read_bounded_json, verify_dir
from rationalize.models.onnx_encoder import name_graph
from rationalize.runs._model_signature import SIGNATURE

MIB = 2**20
WEIGHTS = "model.safetensors"
MOST_GRAPHS = 64
NEEDED = {
    "config.json": 8 * MIB,
    "encoder.json": MIB,
    "README.md": 8 * MIB,
    "tokenizer/tokenizer.json": 256 * MIB,
    "tokenizer/tokenizer_config.json": 8 * MIB,
    WEIGHTS: 1024 * 1024 * MIB,
}
"""Files that every model has, and the most bytes of each."""
POSSIBLE = {
    "tokenizer/special_tokens_map.json": MIB,
    "tokenizer/added_tokens.json": 8 * MIB,
    "tokenizer/vocab.json": 64 * MIB,
    "tokenizer/vocab.txt": 64 * MIB,
    "tokenizer/merges.txt": 64 * MIB,
    "tokenizer/chat_template.jinja": MIB,
    **{name_graph(place): 2048 * MIB for place in range(MOST_GRAPHS)},
}
"""Files that a tokenizer or an export may have; no other is known."""
ADVICE = "Copy the model again, or train it again."
_HUB_EXTRAS = {".gitattributes"}
_TOKENIZER_CLASS = re.compile(r"[A-Za-z0-9]{1,60}(Tokenizer|TokenizerFast|Backend)")
_CODE = ("auto_map", "tokenizer_file", "vocab_file", "merges_file", "trust_remote_code", "_commit_hash")
"""Fields of a tokenizer's config that would name code or other files."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(ge=0)]


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    files: dict[str, _Entry]


def check_model_folder(folder: Path) -> None:
    """Refuse a folder with missing, changed, additional or oversized files, or with links.

    Raises:
        ModelFormatError: With the file's name.
    """
    _check_entries(folder)
    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise ModelFormatError(f"{folder}: damaged or incomplete.\n{manifest}: missing\n{ADVICE}")
    try:
        listed = _Manifest.model_validate(read_bounded_json(manifest, MIB, ModelFormatError)).files
    except ValidationError as error:
        raise ModelFormatError(f"{manifest}: not a manifest: {_summarize(error)}. {ADVICE}") from None
    allowed = {**NEEDED, **POSSIBLE}
    for name in [*NEEDED, *listed]:
        if name not in listed:
            raise ModelFormatError(f"{folder / name}: not listed in {MANIFEST}. {ADVICE}")
        if name not in allowed:
            raise ModelFormatError(f"{manifest}: lists {name[:200]!r}, which no model has. {ADVICE}")
        if listed[name].bytes > allowed[name]:
            raise ModelFormatError(f"{folder / name}: {listed[name].bytes:,} bytes, more than any model has.")
    for path in _list_files(folder):
        name = path.relative_to(folder).as_posix()
        if name not in listed and name not in (MANIFEST, SIGNATURE) and name not in _HUB_EXTRAS:
            raise ModelFormatError(
                f"{path}: not listed in {MANIFEST}, so it does not belong here. Remove it."
            )
    verify_dir(folder, ModelFormatError, ADVICE)


def check_tokenizer_config(path: Path) -> None:
    """Refuse a tokenizer's config that names code, or a class that is none of transformers' own."""
    values = read_bounded_json(path, NEEDED["tokenizer/tokenizer_config.json"], ModelFormatError)
    if not isinstance(values, dict):
        raise ModelFormatError(f"{path}: expected fields by name, got {type(values).__name__}.")
    named = values.get("tokenizer_class")
    if named is not None and not (isinstance(named, str) and _TOKENIZER_CLASS.fullmatch(named)):
        raise ModelFormatError(
            f"{path}: tokenizer_class: saw {str(named)[:80]!r}, expected one of transformers."
        )
    for name in _CODE:
        if name in values:
            raise ModelFormatError(f"{path}: {name}: not allowed in a saved model.")


def describe_tensors(path: Path) -> dict[str, tuple[tuple[int, ...], str]]:
    """Read the names, shapes and dtypes of a weights file without reading the weights."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  # no mapping
            return {name: (tuple(each.get_shape()), str(each.get_dtype())) for name, each in slices.items()}
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelFormatError(f"{path}: not a weights file: {str(error)[:200]}. {ADVICE}") from error


def _check_entries(folder: Path) -> None:
    """Refuse links and devices; only the Hub's own cache links its snapshots to its blobs."""
    blobs = folder.parent.parent / "blobs" if folder.parent.name == "snapshots" else None
    for path in [folder / "tokenizer", *_list_files(folder)]:
        if path.is_symlink() and not (blobs is not None and path.resolve().parent == blobs.resolve()):
            raise ModelFormatError(f"{path}: a link. A model folder holds plain files only.")
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ModelFormatError(f"{path}: not a plain file.")


def _list_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir()]


def _summarize(error: ValidationError) -> str:
    first: Any = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))[:100]}: {first['msg']}"
