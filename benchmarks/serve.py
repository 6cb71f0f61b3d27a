"""What the service costs beside the model itself, measured in one run: `python -m benchmarks.serve`.

A real service in a process of its own, real callers on loopback, each with one text at a time and one connection.
Beside it, the same model folder called directly in a loop with the same texts: as many together as there are callers,
since they cannot come in more, and one text at a time. Direct calls and callers take turns, so that a busy moment hits
them all. Weights are untrained: they are as quick as trained ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import cast

import uvloop

from rationalize.config import EncoderConfig, RunConfig
from rationalize.data.planted import make_corpus
from rationalize.runs.build import build_untrained
from rationalize.runs.model_folder import save_model
from rationalize.runs.settings import resolve_config
from rationalize.runs.training_data import split_training_data
from rationalize.serving.served_model import ServedModel, load_served_model
from rationalize.types import Example

LONGEST_BATCH = 32  # what the service reads together at most, unless told otherwise


@dataclass(frozen=True, slots=True)
class Measured:
    """Texts per second, and how long single answers took (seconds)."""

    rate: float
    latencies: tuple[float, ...]

    def percentile(self, share: float) -> float:
        """The latency below which that share of the answers lies, in milliseconds."""
        ranked = sorted(self.latencies)
        return 1000 * ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def build_folder(encoder: str, folder: Path, words: int | None = None) -> list[Example]:
    """Save an untrained model, and return texts to read: whole reviews, or their first words."""
    corpus = make_corpus(seed=0, sizes={"train": 256, "dev": 16})
    chosen = EncoderConfig.model_validate({"name": encoder, "max_tokens": 256})
    config = resolve_config(RunConfig(method="un_rat", encoder=chosen))
    save_model(folder, build_untrained(config, split_training_data(config, corpus)), "")
    return [Example(example.id, " ".join(example.text.split()[:words])) for example in corpus["train"]]


def call_directly(model: ServedModel, examples: Sequence[Example], together: int, seconds: float) -> Measured:
    """Call the model in a loop with so many texts at a time."""
    supply, done, latencies = cycle(examples), 0, []
    start = time.perf_counter()
    while (begun := time.perf_counter()) < start + seconds:
        model.explain(list(islice(supply, together)), truncate=False)
        latencies.append(time.perf_counter() - begun)
        done += together
    return Measured(done / (time.perf_counter() - start), tuple(latencies))


@contextmanager
def run_service(folder: Path, workers: int) -> Iterator[int]:
    """A service for the model in a process of its own; its port, once it is ready."""
    command = [sys.executable, "-m", "benchmarks.serve", "--serve", str(folder), "--workers", str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().rsplit(":", 1)[1])
            wait_until_ready(port)
            yield port
        finally:
            process.terminate()


def wait_until_ready(port: int, seconds: float = 120) -> None:
    """Until /readyz says so."""
    end = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


async def call_service(port: int, examples: Sequence[Example], callers: int, seconds: float) -> Measured:
    """So many callers, each sending its next text when the last one is answered."""
    supply, latencies = cycle([_request(example.text) for example in examples]), []
    start = time.perf_counter()
    loop = asyncio.get_running_loop()
    ends = [loop.create_future() for _ in range(callers)]
    for end in ends:
        await loop.create_connection(
            lambda end=end: Caller(supply, latencies, start + seconds, end), "127.0.0.1", port
        )
    await asyncio.gather(*ends)
    return Measured(len(latencies) / (time.perf_counter() - start), tuple(latencies))


class Caller(asyncio.Protocol):
    """One connection. It does as little as it can: callers share the cores with the service that they measure."""

    def __init__(
        self, supply: Iterator[bytes], latencies: list[float], until: float, end: asyncio.Future[None]
    ) -> None:
        self._supply, self._latencies, self._until, self._end = supply, latencies, until, end
        self._transport: asyncio.WriteTransport | None = None
        self._got, self._wanted, self._begun = b"", 0, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first text."""
        self._transport = cast("asyncio.WriteTransport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        """Send the next text if this completes the answer, and time is left."""
        self._got += data
        if not self._wanted:
            head, found, _ = self._got.partition(b"\r\n\r\n")
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 200"):
                self._end.set_exception(RuntimeError(f"the service refused: {head.decode()}"))
                return
            length = head.lower().split(b"content-length:")[1].split(b"\r\n")[0]
            self._wanted = len(head) + 4 + int(length)
        if len(self._got) >= self._wanted:
            self._latencies.append(time.perf_counter() - self._begun)
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        """Say so, if it was not over."""
        if not self._end.done():
            self._end.set_exception(error or RuntimeError("the service hung up"))

    def _send(self) -> None:
        assert self._transport is not None
        self._begun = time.perf_counter()
        if self._begun < self._until:
            self._got, self._wanted = b"", 0
            self._transport.write(next(self._supply))
            return
        self._end.set_result(None)
        self._transport.close()


def _request(text: str) -> bytes:
    body = json.dumps({"text": text}).encode()
    head = f"POST /v1/explain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Content-Type: application/json\r\n\r\n".encode() + body


def measure(
    folder: Path,
    examples: Sequence[Example],
    callers: Sequence[int],
    seconds: float,
    rounds: int,
    workers: Sequence[int],
) -> dict[str, Measured]:
    """Every way of asking, in turns; of each, the round with the median rate."""
    model = load_served_model(folder, "cpu")
    ways: dict[str, Callable[[Mapping[int, int]], Measured]] = {}
    for together in sorted({1, *(min(number, LONGEST_BATCH) for number in callers)}):
        ways[name_direct(together)] = lambda _, together=together: call_directly(
            model, examples, together, seconds
        )
    for number in callers:
        for count in workers:
            ways[name_service(number, count)] = lambda ports, number=number, count=count: uvloop.run(
                call_service(ports[count], examples, number, seconds)
            )
    found: dict[str, list[Measured]] = {name: [] for name in ways}
    with ExitStack() as services:
        ports = {count: services.enter_context(run_service(folder, count)) for count in workers}
        for _ in range(rounds):
            for name, ask in ways.items():
                found[name].append(ask(ports))
    return {name: sorted(each, key=lambda one: one.rate)[len(each) // 2] for name, each in found.items()}


def name_direct(together: int) -> str:
    """The row of direct calls."""
    return f"direct, {together} together" if together > 1 else "direct, one at a time"


def name_service(callers: int, workers: int) -> str:
    """The row of the service."""
    name = f"service, {callers} caller{'s' if callers > 1 else ''}"
    return name if workers == 1 else f"{name}, {workers} workers"


def show(encoder: str, found: dict[str, Measured], callers: Sequence[int], workers: Sequence[int]) -> None:
    """A table, and the service's rates beside those of direct calls with as many texts, and with one."""
    print(f"{encoder}: texts/s, and milliseconds until an answer (p50, p99)")
    beside = {
        name_service(number, count): name_direct(min(number, LONGEST_BATCH))
        for number in callers
        for count in workers
    }
    alone = found[name_direct(1)].rate
    for name, one in found.items():
        ratios = ""
        if name in beside:
            ratios = (
                f"{one.rate / found[beside[name]].rate:.2f} x {beside[name]}, {one.rate / alone:.2f} x alone"
            )
        print(
            f"  {name:32} {one.rate:9.1f} {one.percentile(0.5):9.1f} {one.percentile(0.99):9.1f}   {ratios}"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", nargs="+", default=["tiny", "minilm"])
    parser.add_argument("--callers", nargs="+", type=int, default=[1, 8, 32])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2], help="processes of the service")
    parser.add_argument("--words", type=int, help="read only so many words of each review")
    parser.add_argument("--seconds", type=float, default=5.0, help="of every measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        sys.argv = ["rationalize", "serve", f"bench={arguments.serve}", "--port", "0", "--quiet"]
        sys.argv += ["--workers", str(arguments.workers[0])]
        from rationalize.cli.main import main as rationalize

        rationalize()
        return
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with tempfile.TemporaryDirectory() as temporary:
        for encoder in arguments.encoder:
            folder = Path(temporary) / encoder
            examples = build_folder(encoder, folder, arguments.words)
            words = statistics.median(len(example.text.split()) for example in examples)
            print(f"{encoder}: {len(examples)} texts of {words:.0f} words (median)", flush=True)
            found = measure(
                folder, examples, arguments.callers, arguments.seconds, arguments.rounds, arguments.workers
            )
            show(encoder, found, arguments.callers, arguments.workers)


if __name__ == "__main__":
    main()
