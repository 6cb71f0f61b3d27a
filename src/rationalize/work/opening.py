"""Open the place that somebody asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rationalize.errors import ConfigError
from rationalize.work._here import Here
from rationalize.work._process_pool import open_pool
from rationalize.work.ray_cluster import join_cluster
from rationalize.work.resources import Resources
from rationalize.work.workplace import Workplace


@contextmanager
def open_workplace(on: str | None, jobs: int | None, resources: Resources, home: Path) -> Iterator[Workplace]:
    """Open a Ray cluster (`on`), several processes (`jobs`), or this process.

    Args:
        on: `ray`, or `ray://HOST:PORT`; None: this machine.
        jobs: Number of processes; None: one.
        resources: What a task asks of a cluster.
        home: The folder that holds what tasks read and write; workers that see it too work right there.

    Raises:
        ConfigError: If both are given, or there is no such cluster, or it is too small.
    """
    if on is None:
        if (jobs or 1) == 1:
            yield Here()
            return
        with open_pool(jobs or 1) as pool:
            yield pool
        return
    if jobs is not None:
        raise ConfigError(
            f"jobs: {jobs} processes of this machine, and on: {on!r}. Give one of them; a cluster runs as many tasks "
            "as fit its nodes (resources).",
            field=("jobs", "on"),
        )
    from rationalize.work._on_ray import OnRay

    with join_cluster(on) as cluster:
        cluster.require(resources)
        place = OnRay(cluster, resources, home)
        try:
            yield place
        finally:
            place.close()
