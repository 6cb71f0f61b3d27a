"""Chunks on a Ray cluster, through Ray Data: an actor for each worker holds the model, parts come back as bytes.

The input is read here, and parts are written here, so no node needs to see either; a part that comes back is complete,
and is written once. A worker that is lost costs its chunk, which Ray Data gives to another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rationalize.corpus._chunk import Chunk, PartRecord
from rationalize.corpus._failure import ChunkFailure, attempt
from rationalize.errors import ConfigError
from rationalize.files import atomic_path
from rationalize.work.ray_cluster import RayCluster
from rationalize.work.resources import Resources

if TYPE_CHECKING:
    from rationalize.corpus.explain_corpus import ExplainChunk

SHARD_CHUNKS = 256
"""Chunks that are in the cluster at a time; actors are made anew for each such shard."""
RETRIES = 2
"""How often a chunk whose worker was lost is given to another one."""


def run_on_ray(
    chunks: Iterator[Chunk], explain: ExplainChunk, workers: int, wanted: Resources, cluster: RayCluster
) -> Iterator[PartRecord]:
    """Yield the record of each chunk when its part is written.

    Args:
        chunks: The chunks; a shard of them is read at a time.
        explain: What to do with each.
        workers: Number of actors.
        wanted: What each actor asks for.
        cluster: Where they are.

    Raises:
        RationalizeError: If the work raises one, or a chunk has cost too many workers.
    """
    model = cluster.ray.put(explain)
    while shard := _send_shard(chunks, cluster.ray):
        yield from _explain_shard(shard, explain, model, workers, wanted, cluster.ray)


@dataclass(frozen=True)
class _Sent:
    """A chunk in the cluster: where it is, what it is called, and what is written down when it is done."""

    ref: Any
    name: str
    record: PartRecord


def _send_shard(chunks: Iterator[Chunk], ray: Any) -> dict[int, _Sent]:
    return {
        chunk.number: _Sent(ray.put(chunk), str(chunk), chunk.to_record())
        for chunk in islice(chunks, SHARD_CHUNKS)
    }


def _explain_shard(
    shard: dict[int, _Sent], explain: ExplainChunk, model: Any, workers: int, wanted: Resources, ray: Any
) -> Iterator[PartRecord]:
    from ray.exceptions import RayError

    _silence(ray)
    explained = ray.data.from_items([{"number": number} for number in shard], override_num_blocks=len(shard))
    explained = explained.map_batches(
        ExplainingActor,
        batch_size=1,
        concurrency=min(workers, len(shard)),
        num_cpus=wanted.cpus,
        num_gpus=wanted.gpus,
        max_task_retries=RETRIES,
        fn_constructor_args=(model, {number: sent.ref for number, sent in shard.items()}, wanted),
    )
    try:
        for row in explained.iter_rows():
            if row["failure"]:
                raise ChunkFailure.from_json(row["failure"]).to_error()
            record = shard.pop(int(row["number"])).record
            with atomic_path(explain.locate(record.part)) as part:
                part.write_bytes(row["part"])
            yield record
    except RayError as error:
        left = next(iter(shard.values())).name
        raise ConfigError(
            f"{left}, or one after it: its workers were lost {RETRIES + 1} times, perhaps for lack of memory. What is "
            "finished is kept: resume with fewer workers.",
            field=("resume", "workers"),
        ) from error


def _silence(ray: Any) -> None:
    """Keep Ray Data's bars and logs from the terminal; we show progress ourselves."""
    import logging

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


class ExplainingActor:
    """Holds the model on a worker, and makes the bytes of a part from the number of its chunk."""

    def __init__(self, model: Any, chunks: dict[int, Any], wanted: Resources) -> None:
        import ray

        self._ray, self._chunks = ray, chunks
        explain: ExplainChunk = ray.get(model)
        self._explain = explain.move("cuda" if wanted.gpus else "cpu", max(1, int(wanted.cpus)))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Explain the chunk of a batch, which has one."""
        [number] = batch["number"]
        with TemporaryDirectory(prefix="rationalize-") as folder:
            explain = replace(self._explain, folder=Path(folder))
            failure = attempt(explain, self._ray.get(self._chunks[int(number)]))
            part = b"" if failure else explain.locate(int(number)).read_bytes()
        return {"number": [number], "part": [part], "failure": [failure.to_json() if failure else ""]}
