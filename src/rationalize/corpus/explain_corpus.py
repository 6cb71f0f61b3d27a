"""Explain a stream of examples into a file or a folder of parts, and go on where an earlier attempt stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

import torch

from rationalize.children import share_cores
from rationalize.corpus._chunk import Chunk, PartRecord
from rationalize.corpus._explain_chunk import ExplainChunk
from rationalize.corpus._pool import run_in_processes
from rationalize.corpus._ray_data import run_on_ray
from rationalize.corpus._stored_work import StoredWork, is_stored, open_stored
from rationalize.corpus._unfinished import Unfinished, WorkPlan, locate_unfinished, open_unfinished
from rationalize.corpus.corpus_settings import CorpusOutcome, CorpusSettings
from rationalize.corpus.part_formats import (
    FORMATS,
    PartFormat,
    join_parts,
    require_writer,
    write_for_tool,
)
from rationalize.data.own_ids import OwnIds
from rationalize.data.remote_folder import RemoteFolder, find_remote, to_local
from rationalize.errors import ConfigError
from rationalize.files import to_json
from rationalize.inference.engine import take_chunks
from rationalize.inference.precision import check_precision
from rationalize.models.weights import collect_weights
from rationalize.runs.model_folder import Model
from rationalize.types import Example
from rationalize.version import __version__
from rationalize.work.ray_cluster import RayCluster, join_cluster


def explain_all(
    model: Model,
    examples: Iterable[Example],
    out: str | Path,
    settings: CorpusSettings,
    on_rows: Callable[[int], None] = lambda rows: None,
    on_read: Callable[[int], None] = lambda rows: None,
) -> CorpusOutcome:
    """Explain examples in their order into one file (an `out` with an ending), or a folder of numbered parts.

    The output appears when it is complete. Until then, finished parts are in `<out>.unfinished`, where another attempt
    finds them. In a store, a part appears when it is complete. At most one chunk for each worker, and one that waits,
    is in memory.

    Args:
        model: The trained model.
        examples: The examples; on resuming, the same ones again.
        out: File ending in .jsonl, .csv or .parquet, or folder to make; the file or folder of an annotation tool; the
            address of a folder to make in a store.
        settings: How to go about it.
        on_rows: Called with the number of rows done so far.
        on_read: Called with the number of all rows before the output appears; it may refuse.

    Raises:
        ConfigError: If the output cannot be written there, or the settings do not fit.
        DataError: If an example cannot be read, or on resuming is not what it was.
    """
    store, place = find_remote(out), to_local(out)
    format = _choose_format(place, settings)
    require_writer(format)
    if store is not None:
        _require_folder(store, place, settings)
    if settings.resume and (_is_there(place) if store is None else is_stored(store)):
        return CorpusOutcome(str(out), 0, 0, 0)
    if store is None:
        _require_place(place)
    _require_cpu(model, settings)
    check_precision(settings.precision, model.method)
    plan = WorkPlan(
        model=_hash_model(model),
        format=format,
        truncate=settings.truncate,
        batch_tokens=settings.batch_tokens,
        precision=settings.precision,
        chunk_rows=settings.chunk_rows,
        guard_formulas=settings.guard_formulas,
        min_confidence=dict(model.make_rule(settings.min_confidence).floors),
        version=__version__,
    )
    opened: AbstractContextManager[Unfinished] = (
        open_unfinished(place, plan, resume=settings.resume)
        if store is None
        else open_stored(store, plan, resume=settings.resume)
    )
    with _join(settings) as cluster, opened as work:
        threads = share_cores(settings.workers) if settings.workers > 1 else None
        explain = ExplainChunk(model, work.folder, plan, threads)
        texts = examples if settings.to is None else _refuse_repeated(examples)
        outcome = _run(work, texts, explain, settings, str(out), on_rows, cluster)
        on_read(outcome.rows)
        if isinstance(work, StoredWork):
            work.finish(outcome.parts)
            return outcome
        parts = work.list_parts(outcome.parts)
        if settings.to is not None:
            outcome = replace(outcome, changes=write_for_tool(parts, place, settings.to))
        elif place.suffix:
            join_parts(parts, place, format, model.config.labels)
        else:
            work.publish(place)
    return outcome


def _run(
    work: Unfinished,
    examples: Iterable[Example],
    explain: ExplainChunk,
    settings: CorpusSettings,
    out: str,
    on_rows: Callable[[int], None],
    cluster: RayCluster | None,
) -> CorpusOutcome:
    rows = parts = found = 0

    def read_chunks() -> Iterator[Chunk]:
        nonlocal rows, parts, found
        first = 1
        for number, taken in enumerate(take_chunks(examples, settings.chunk_rows), start=1):
            chunk = Chunk(number, first, tuple(taken))
            first, parts = first + len(taken), number
            if not work.has(chunk):
                yield chunk
                continue
            found, rows = found + 1, rows + len(taken)
            on_rows(rows)

    with closing(_do_all(read_chunks(), explain, settings, cluster)) as done:  # closed, it ends its workers
        for part in done:
            work.record(part)
            rows += part.rows
            on_rows(rows)
    return CorpusOutcome(out, rows, parts, found)


def _do_all(
    chunks: Iterator[Chunk], explain: ExplainChunk, settings: CorpusSettings, cluster: RayCluster | None
) -> Generator[PartRecord]:
    if cluster is not None:
        yield from run_on_ray(chunks, explain, settings.workers, settings.wanted, cluster)
        return
    begin = list(islice(chunks, 2)) if settings.workers > 1 else []
    if len(begin) > 1:  # a single chunk is done before another process would have started
        for chunk in run_in_processes(_chain(begin, chunks), explain, settings.workers):
            yield chunk.to_record()
        return
    for chunk in _chain(begin, chunks):
        explain(chunk)
        yield chunk.to_record()


@contextmanager
def _join(settings: CorpusSettings) -> Iterator[RayCluster | None]:
    """Join the cluster, if there is to be one, before anything is read."""
    if settings.on is None:
        yield None
        return
    with join_cluster(settings.on) as cluster:
        cluster.require(settings.wanted, settings.workers, field=("workers", "device"))
        yield cluster


def _chain(begin: list[Chunk], rest: Iterator[Chunk]) -> Iterator[Chunk]:
    while begin:
        yield begin.pop(0)  # not kept, unlike by `itertools.chain`
    yield from rest


def _choose_format(out: Path, settings: CorpusSettings) -> PartFormat:
    if settings.to is not None:
        return "jsonl"  # of the parts; the tool's file is made of them
    ending = out.suffix[1:]
    named = next((each for each in FORMATS if each == ending), None)
    if out.suffix and settings.format not in (None, named):
        raise ConfigError(
            f"{out}: the ending of a file decides its format; saw format {settings.format!r} as well. "
            "Leave one of them out: a name without an ending is that of a folder.",
            field=("out", "format"),
        )
    if out.suffix and named is None:
        raise ConfigError(
            f"{out}: unknown ending {out.suffix!r}. Expected .{', .'.join(FORMATS)}, or a name without an ending: "
            "that of a folder.",
            field="out",
        )
    return named or settings.format or "jsonl"


def _refuse_repeated(examples: Iterable[Example]) -> Iterator[Example]:
    """Yield examples, each with an id of its own: tools know texts by it."""
    ids = OwnIds()
    for example in examples:
        ids.add(example.id)
        yield example


def _require_folder(store: RemoteFolder, out: Path, settings: CorpusSettings) -> None:
    """Refuse a single file in a store: it could be neither made of parts there nor resumed."""
    if settings.to is not None:
        raise ConfigError(
            f"{store.address}: the file for an annotation tool is made of all parts, on this machine. Write it here, "
            "and copy it there.",
            field=("out", "to"),
        )
    if out.suffix:
        raise ConfigError(
            f"{store.address}: in a store, a folder of parts is written, not a file. Leave out the ending "
            f"{out.suffix!r}, and give the format by itself if it is not jsonl.",
            field=("out", "format"),
        )


def _is_there(out: Path) -> bool:
    return out.exists() and not locate_unfinished(out).exists()


def _require_place(out: Path) -> None:
    """Refuse to write a folder over anything, or a file over a folder."""
    taken = out.is_dir() if out.suffix else out.exists() and not (out.is_dir() and not any(out.iterdir()))
    if taken:
        raise ConfigError(f"{out}: exists. Choose another place, or remove it.", field="out")


def _require_cpu(model: Model, settings: CorpusSettings) -> None:
    device = next(model.method.parameters()).device
    if settings.on is not None and device.type != "cpu":
        raise ConfigError(
            f"on: the model is on {device} here, from where it is sent to the workers. Load it on cpu; what workers "
            "compute on is their `device`.",
            field=("on", "device"),
        )
    if settings.workers > 1 and device.type != "cpu":
        raise ConfigError(
            f"workers: {settings.workers} processes share weights in main memory, but the model is on {device}. "
            "Use one worker there, or the device cpu.",
            field=("workers", "device"),
        )
    if settings.workers > 1 and settings.on is None:
        model.method.share_memory()  # processes that get the model map this memory; nothing is copied


def _hash_model(model: Model) -> str:
    total = hashlib.sha256(to_json(model.config.model_dump(mode="json")).encode())
    for name, tensor in collect_weights(model.method).items():
        total.update(name.encode())
        total.update(tensor.contiguous().cpu().reshape(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()
