"""Callers of a running service: many at once, too many, slow ones; what they were answered, and what it cost."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WORDS = [
    "a",
    "truly",
    "gripping",
    "story",
    ",",
    "dull",
    "and",
    "lazy",
    "acting",
    "in",
    "the",
    "film",
    "that",
    "we",
    "saw",
    "on",
    "friday",
]
START_S = 180


@contextmanager
def run_service(folder: Path, *limits: str) -> Iterator[tuple[int, int]]:
    """A service in a process of its own: its port and its process id, once its model is ready."""
    call = "from rationalize.cli.main import main; main()"
    flags = [word for limit in limits for word in ("--limit", limit)]
    command = [
        sys.executable,
        "-c",
        call,
        "serve",
        f"m={folder}",
        "--port",
        "0",
        "--quiet",
        "--device",
        "cpu",
        *flags,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(process.stdout.readline().rsplit(":", 1)[1])
            end = time.monotonic() + START_S
            while not _is_ready(port):
                assert time.monotonic() < end, "the service does not get ready"
                time.sleep(0.2)
            yield port, process.pid
        finally:
            process.terminate()


def _is_ready(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10).close()
    except OSError:
        return False
    return True


def read_memory(process: int) -> int:
    """Bytes that a process has in memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def make_request(method: str, path: str, body: bytes = b"", *, close: bool = False) -> bytes:
    head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    head += ["Content-Type: application/json"] if body else []
    head += ["Connection: close"] if close else []
    return "\r\n".join([*head, "", ""]).encode() + body


def draw_call(rng: random.Random) -> bytes:
    """Any of the things that callers do: right ones, long ones, many at once, wrong ones, and a look around."""
    text = " ".join(rng.choices(WORDS, k=rng.choice([1, 12, 12, 40, 400])))
    kind = rng.choice(["one", "one", "one", "several", "predict", "cut", "query", "look", "wrong"])
    path = "/v1/predict" if kind == "predict" else "/v1/explain"
    if kind == "look":
        return make_request("GET", rng.choice(["/healthz", "/readyz", "/v1/models", "/metrics", "/nowhere"]))
    bodies = {
        "several": {"texts": [text[:80], "", text[:9]]},
        "cut": {"text": text * 3, "truncate": True},
        "query": {"text": text, "query": "is it any good ?"},
        "wrong": rng.choice([{"text": 1}, {"texts": []}, {"text": "x", "model": "gone"}, [], "{"]),
    }
    return make_request("POST", path, json.dumps(bodies.get(kind, {"text": text})).encode())


async def read_answer(reader: asyncio.StreamReader) -> int:
    """The status."""
    return (await read_status(reader))[0]


async def read_status(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """The status, and whether this was the last answer on this connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length or 0))
    return int(head.split()[1]), b"connection: close" in head


async def call_on(port: int, seconds: float, rng: random.Random, seen: Counter[int], draw=draw_call) -> None:
    """One caller, who connects again now and then, and sometimes hangs up before the answer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for _ in range(rng.randrange(1, 50)):
                writer.write(draw(rng))
                if rng.random() < 0.01:
                    seen[0] += 1  # hung up
                    break
                status, last = await read_status(reader)
                seen[status] += 1
                if last or time.monotonic() > end:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            seen[-1] += 1  # the service hung up
        finally:
            writer.close()


async def call_together(port: int, callers: int, seconds: float, draw=draw_call) -> Counter[int]:
    """So many callers at once; how often each status was seen (0: hung up; -1: was hung up on)."""
    seen: Counter[int] = Counter()
    await asyncio.gather(
        *(call_on(port, seconds, random.Random(number), seen, draw) for number in range(callers))
    )
    return seen


def draw_heavy(rng: random.Random) -> bytes:
    texts = [" ".join(rng.choices(WORDS, k=40)) for _ in range(32)]
    return make_request("POST", "/v1/explain", json.dumps({"texts": texts}).encode())


async def recover(port: int, patience_s: float) -> float:
    """Seconds until a call is answered as ever."""
    began = time.monotonic()
    while time.monotonic() - began < patience_s:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(make_request("POST", "/v1/explain", b'{"text": "good"}'))
        status = await read_answer(reader)
        writer.close()
        if status == 200:
            return time.monotonic() - began
        await asyncio.sleep(0.1)
    return patience_s


async def check_health_beside(port: int, slow: int, checks: int) -> Counter[int]:
    """What health checks are answered while so many callers send their bodies a byte at a time."""
    writers = []
    for _ in range(slow):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(make_request("POST", "/v1/explain", b'{"text": "' + b"x" * 500)[:-400])
        writers.append(writer)
    seen: Counter[int] = Counter()
    for _ in range(checks):
        for writer in writers:
            writer.write(b"x")
        reader, asking = await asyncio.open_connection("127.0.0.1", port)
        asking.write(make_request("GET", "/healthz", close=True))
        try:
            seen[await asyncio.wait_for(read_answer(reader), 30)] += 1
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            seen[-1] += 1
        asking.close()
    for writer in writers:
        writer.close()
    return seen
