"""Small Ray clusters on this machine, for tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

STORE = 80 * 2**20


@contextmanager
def start_cluster(nodes: int = 2) -> Iterator[Any]:
    """So many nodes with one CPU each; their workers can import what the tests can."""
    path = os.pathsep.join([*(each for each in sys.path if each), os.environ.get("PYTHONPATH", "")])
    with mock.patch.dict(os.environ, RAY_USAGE_STATS_ENABLED="0", PYTHONPATH=path):
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(nodes - 1):
                cluster.add_node(num_cpus=1, object_store_memory=STORE)
            yield cluster
        finally:
            cluster.shutdown()
