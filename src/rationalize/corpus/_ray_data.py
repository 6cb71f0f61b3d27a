"""Chunks on a Ray cluster, through Ray Data: an actor for each worker holds the model, parts come back as bytes.

The input is read here, and parts are written here, so no node needs to see either; a part that comes back is complete,
and is written once. A worker that is lost costs its chunk, which Ray Data gives to another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rationalize.corpus._chunk import Chunk, PartRecord
from rationalize.corpus._explain_chunk import ExplainChunk
from rationalize.corpus._failure import ChunkFailure, attempt
from rationalize.errors import ConfigError
from rationalize.files import atomic_path
from rationalize.work.ray_cluster import RayCluster, take_last_line
from rationalize.work.resources import Resources

SHARD_CHUNKS = 256
"""Chunks that are in the cluster at a time; actors are made anew for each such shard."""
ATTEMPTS = 3
"""Workers that a chunk may cost before it is given up. Ray Data itself would give it to another one without end."""


@dataclass(frozen=True)
class _Sent:
    """A chunk in the cluster: where it is, what it is called, and what is written down when it is done."""

    ref: Any
    name: str
    record: PartRecord


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
    ray = cluster.ray
    _silence(ray)
    model, tries = ray.put(explain), _start_count(ray)
    while shard := _send_shard(chunks, ray):
        refs = {number: sent.ref for number, sent in shard.items()}
        numbers = ray.data.from_items(
            [{"number": number} for number in shard], override_num_blocks=len(shard)
        )
        explained = numbers.map_batches(
            ExplainingActor,
            batch_size=1,
            concurrency=min(workers, len(shard)),
            num_cpus=wanted.cpus,
            num_gpus=wanted.gpus,
            fn_constructor_args=(model, refs, tries, wanted),
        )
        yield from _write_parts(explained, shard, explain)


def _send_shard(chunks: Iterator[Chunk], ray: Any) -> dict[int, _Sent]:
    return {
        chunk.number: _Sent(ray.put(chunk), str(chunk), chunk.to_record())
        for chunk in islice(chunks, SHARD_CHUNKS)
    }


def _write_parts(explained: Any, shard: dict[int, _Sent], explain: ExplainChunk) -> Iterator[PartRecord]:
    from ray.exceptions import RayError

    try:
        for row in explained.iter_rows():
            sent = shard.pop(int(row["number"]))
            if row["failure"]:
                raise ChunkFailure.from_json(row["failure"]).to_error()
            if row["tries"] > ATTEMPTS:
                raise ConfigError(
                    f"{sent.name}: the worker that had it was lost {ATTEMPTS} times, perhaps for lack of memory. What "
                    "is finished is kept: resume with fewer workers.",
                    field=("resume", "workers"),
                )
            with atomic_path(explain.locate(sent.record.part)) as part:
                part.write_bytes(row["part"])
            yield sent.record
    except RayError as error:
        raise ConfigError(
            f"on: Ray could not go on ({take_last_line(error)}). What is finished is kept: resume.",
            field=("on", "resume"),
        ) from error


def _silence(ray: Any) -> None:
    """Keep Ray Data's bars and logs from the terminal; we show progress ourselves."""
    import logging

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


class _Count:
    """Counts how often each chunk was begun."""

    def __init__(self) -> None:
        self._begun: Counter[int] = Counter()

    def begin(self, number: int) -> int:
        """Count a chunk; return how often it was begun."""
        self._begun[number] += 1
        return self._begun[number]


def _start_count(ray: Any) -> Any:
    """Start the counter on this node, whose loss is the end anyway."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0, scheduling_strategy=here)(_Count).remote()


class ExplainingActor:
    """Holds the model on a worker, and makes the bytes of a part from the number of its chunk."""

    def __init__(self, model: Any, chunks: dict[int, Any], tries: Any, wanted: Resources) -> None:
        import ray

        self._ray, self._chunks, self._tries = ray, chunks, tries
        explain: ExplainChunk = ray.get(model)
        self._explain = explain.move("cuda" if wanted.gpus else "cpu", max(1, int(wanted.cpus)))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Explain the chunk of a batch, which has one."""
        [number] = map(int, batch["number"])
        tries = self._ray.get(self._tries.begin.remote(number))
        failure, part = None, b""
        if tries <= ATTEMPTS:
            with TemporaryDirectory(prefix="rationalize-") as folder:
                explain = replace(self._explain, folder=Path(folder))
                failure = attempt(explain, self._ray.get(self._chunks[number]))
                part = b"" if failure else explain.locate(number).read_bytes()
        said = failure.to_json() if failure else ""
        return {"number": [number], "tries": [tries], "part": [part], "failure": [said]}
