"""A Ray cluster: join it, see what it has, ask every node something. Every wait is bounded, Ray is imported late."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rationalize.errors import ConfigError
from rationalize.version import __version__
from rationalize.work.resources import Resources

PORT = 6379
"""Where a cluster's head listens unless it was started otherwise."""
KNOCK_S, HEALTH_S, NODE_S = 5.0, 60.0, 120.0
"""How long to wait for a host, for Ray on it, and for a node that is asked something."""


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A machine of a cluster, or what counts as one."""

    id: str
    name: str
    cpus: float
    gpus: float

    def fits(self, wanted: Resources) -> bool:
        """Return whether a task can run on it."""
        return self.cpus >= wanted.cpus and self.gpus >= wanted.gpus


@dataclass(frozen=True, slots=True)
class RayCluster:
    """A cluster that this process has joined; `ray` is the module."""

    ray: Any
    nodes: tuple[ClusterNode, ...]

    @property
    def size(self) -> str:
        """Its nodes and what they have."""
        each = "; ".join(f"{node.name}: {node.cpus:g} CPU, {node.gpus:g} GPU" for node in self.nodes)
        return f"{len(self.nodes)} node(s) ({each})"

    def require(self, wanted: Resources, times: int = 1, field: str | tuple[str, ...] = "resources") -> None:
        """Refuse what the cluster can never give.

        Raises:
            ConfigError: If there is room for fewer than so many tasks at a time.
        """
        room = sum(_count_fits(node, wanted) for node in self.nodes)
        if room >= times:
            return
        asked = f"{wanted}" if times == 1 else f"{times} times {wanted}"
        raise ConfigError(
            f"resources: saw {asked}, more than the cluster has. It is {self.size}; a task runs on one node. "
            "Ask for less, or add a node that has it.",
            field=field,
        )

    def ask_all(self, question: Callable[..., Any], *given: Any) -> dict[ClusterNode, Any]:
        """Call a function on every node and return the answers.

        Raises:
            ConfigError: If a node cannot answer, with its name.
        """
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        remote = self.ray.remote(num_cpus=0, max_retries=0)(question)
        asked = {
            node: remote.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False)
            ).remote(*given)
            for node in self.nodes
        }
        self.ray.wait(list(asked.values()), num_returns=len(asked), timeout=NODE_S)
        answers = {}
        for node, ref in asked.items():
            try:
                answers[node] = self.ray.get(ref, timeout=0.1)
            except Exception as error:  # whatever is wrong there, the node is of no use
                said = "no answer" if isinstance(error, TimeoutError) else take_last_line(error)
                raise ConfigError(
                    f"on: node {node.name} cannot do the work ({said}). Install rationalize {__version__} on every "
                    "node, in the same Python.",
                    field="on",
                ) from error
        return answers


def _count_fits(node: ClusterNode, wanted: Resources) -> int:
    if not node.fits(wanted):
        return 0
    by_gpus = int(node.gpus / wanted.gpus) if wanted.gpus else sys.maxsize
    return min(int(node.cpus / wanted.cpus), by_gpus)


def parse_place(on: str) -> str | None:
    """Return the address in `ray://HOST:PORT`; None for `ray`.

    Raises:
        ConfigError: If it is neither.
    """
    if on == "ray":
        return None
    parts = urlsplit(on)
    try:
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        host = None
    if parts.scheme != "ray" or not host or parts.path.strip("/") or parts.query:
        raise ConfigError(f"on: saw {on!r}, expected ray or ray://HOST:PORT.", field="on")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@contextmanager
def join_cluster(on: str) -> Iterator[RayCluster]:
    """Be part of a cluster while in the context.

    `ray` is the cluster that `RAY_ADDRESS` names, else the one that this machine is part of, else one that is started
    here for the time being. A script that has called `ray.init` stays in its own.

    Raises:
        ConfigError: If Ray is missing, nobody answers, or a node has another version of this package.
    """
    address = parse_place(on)
    if importlib.util.find_spec("ray") is None:
        raise ConfigError(
            "on: Ray is not installed. Install it (`pip install 'rationalize[ray]'`), or work on this machine.",
            field="on",
        )
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before the import, and for the cluster that may be started
    import ray

    joined = ray.is_initialized()
    if not joined:
        _connect(ray, address or _read_address())
    try:
        cluster = RayCluster(ray, _list_nodes(ray))
        _require_same_version(cluster)
        yield cluster
    finally:
        if not joined:
            ray.shutdown()


def _read_address() -> str | None:
    """Return the address in the environment, if it is one."""
    named = os.environ.get("RAY_ADDRESS", "")
    if ":" not in named:
        return None  # Ray understands `auto` and `local` itself
    return parse_place(named if named.startswith("ray://") else f"ray://{named}")


def _connect(ray: Any, address: str | None) -> None:
    if address is not None:
        _require_answer(address)
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if in_main else None
    try:
        ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # Ray has no class for it
        raise ConfigError(
            f"on: cannot join the Ray cluster{f' at {address}' if address else ''}: {take_last_line(error)} Run the "
            "command on a machine of the cluster, with the cluster's versions of Python and Ray.",
            field="on",
        ) from error
    finally:
        if before is not None:
            signal.signal(
                signal.SIGTERM, before
            )  # Ray sets its own, which would end us in the middle of a step


def _require_answer(address: str) -> None:
    """Knock before Ray does, which waits for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_S).close()
    except OSError as error:
        raise ConfigError(
            f"on: nobody answers at {address} ({error.strerror or error}). Expected the head of a Ray cluster, as "
            "`ray start --head` prints it.",
            field="on",
        ) from error
    check = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    try:
        subprocess.run(check, timeout=HEALTH_S, check=True, capture_output=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        raise ConfigError(
            f"on: what listens at {address} is not the head of a Ray cluster. Expected the address that "
            f"`ray start --head` prints (its port is {PORT} unless chosen), not that of the client server or the "
            "dashboard.",
            field="on",
        ) from error


def _list_nodes(ray: Any) -> tuple[ClusterNode, ...]:
    return tuple(
        ClusterNode(
            each["NodeID"],
            f"{each['NodeManagerAddress']}/{each['NodeID'][:6]}",
            each["Resources"].get("CPU", 0.0),
            each["Resources"].get("GPU", 0.0),
        )
        for each in ray.nodes()
        if each["Alive"]
    )


def _require_same_version(cluster: RayCluster) -> None:
    others = {node: there for node, there in cluster.ask_all(_get_version).items() if there != __version__}
    for node, there in others.items():
        raise ConfigError(
            f"on: node {node.name} has rationalize {there}, here it is {__version__}. Install the same on every node.",
            field="on",
        )


def _get_version() -> str:
    return __version__


def take_last_line(error: BaseException) -> str:
    """Return the line of a message that says what is wrong; Ray's begin with a traceback."""
    lines: Sequence[str] = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
