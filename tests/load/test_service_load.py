"""The service under load: no failure at sixteen callers, refusals at ten times as many, health beside slow ones."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from service_load import call_together, check_health_beside, draw_heavy, read_memory, recover, run_service

from tally import Tally

sys.path.append(str(Path(__file__).parents[1] / "serving"))
from serving_helpers import asking_at_once, stub_app

CALLERS = 16
SECONDS = float(os.environ.get("RATIONALIZE_LOAD_SECONDS", "60"))  # the full proof has 300


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc to measure memory")
    from helpers import tiny_model
    from rationalize.runs.model_folder import save_model

    folder = tmp_path_factory.mktemp("load") / "model"
    save_model(folder, tiny_model("un_rat"), "# card\n")
    with run_service(folder, "open_requests=64") as found:
        yield found


def report(name: str, seen: Counter[int], allowed) -> None:
    tally = Tally(name, 0)
    for status, times in sorted(seen.items()):
        for _ in range(times):
            tally.count(str(status)) if allowed(status) else tally.fail(f"status {status}")
    tally.close(1)


def test_some_callers_at_once():
    """The same in one process, with a model that answers at once."""

    async def run():
        async with asking_at_once(stub_app()) as client:

            async def call(number):
                rng = random.Random(number)
                bodies = [{"text": "a b"}, {"texts": ["a", ""]}, {"text": 1}, {"texts": ["x"] * 65}, []]
                answers = [await client.post("/v1/explain", json=rng.choice(bodies)) for _ in range(10)]
                return [answer.status_code for answer in answers]

            return Counter(
                status for found in await asyncio.gather(*map(call, range(CALLERS))) for status in found
            )

    report("callers at once", asyncio.run(run()), lambda status: status < 500)


@pytest.mark.slow
def test_mixed_load_without_a_failure_and_without_growth(service):
    port, process = service
    asyncio.run(call_together(port, CALLERS, SECONDS / 5))  # until buffers have their size
    before, began = read_memory(process), time.monotonic()
    seen = asyncio.run(call_together(port, CALLERS, SECONDS))
    growth = read_memory(process) / before - 1
    print(
        f"\n{time.monotonic() - began:.0f} s, {CALLERS} callers, memory {before / 2**20:.0f} MiB, {growth:+.1%}"
    )
    report("mixed load", seen, lambda status: status < 500 and status != -1)
    assert growth < 0.05


@pytest.mark.slow
def test_ten_times_too_many_are_refused_honestly_and_forgotten_soon(service):
    port, _ = service
    seen = asyncio.run(call_together(port, 10 * CALLERS, min(SECONDS, 30), draw_heavy))
    took = asyncio.run(recover(port, 30))
    print(f"\nas ever after {took:.1f} s")
    report("overload", seen, lambda status: status in (0, 200, 429, 503))
    assert took < 5


@pytest.mark.slow
def test_two_hundred_slow_callers_do_not_stop_health_checks(service):
    seen = asyncio.run(check_health_beside(service[0], 200, 100))
    report("health beside 200 slow callers", seen, lambda status: status == 200)
