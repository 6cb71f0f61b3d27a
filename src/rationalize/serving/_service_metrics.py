"""Counters of the service, for Prometheus. One registry per application; several processes add theirs up."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
TEXTS = (1, 2, 4, 8, 16, 32, 64)


class ServiceMetrics:
    """Thread-safe counters.

    Args:
        shared: Folder in which processes that serve together keep their counters; None: there is one process.
    """

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, shared: Path | None = None) -> None:
        self.registry = registry = CollectorRegistry()
        self._shared = shared
        self._watched: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {}
        if shared is None:
            ProcessCollector(registry=registry)
        self._requests = Counter(
            "rationalize_requests", "Requests answered.", ("route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "rationalize_request_seconds",
            "Time to answer a request.",
            ("route",),
            buckets=SECONDS,
            registry=registry,
        )
        self._texts = Counter("rationalize_texts", "Texts read.", ("model", "kind"), registry=registry)
        self._together = Histogram(
            "rationalize_batch_texts", "Texts read together.", ("model",), buckets=TEXTS, registry=registry
        )
        self._busy = Counter("rationalize_model_seconds", "Time a model read.", ("model",), registry=registry)
        self._waiting = Gauge(
            "rationalize_queue_texts",
            "Texts that wait.",
            ("model",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._ready = Gauge(
            "rationalize_model_ready",
            "1: the model answers.",
            ("model",),
            registry=registry,
            multiprocess_mode="livemin",
        )
        # To look a counter up by its labels takes longer than to count, so that is done once for each.
        self._find_requests = cache(self._requests.labels)
        self._find_seconds = cache(self._seconds.labels)

    def watch_model(self, model: str, waiting: Callable[[], float], ready: Callable[[], float]) -> None:
        """Read a model's queue and state whenever metrics are collected."""
        self._watched[model] = waiting, ready
        if self._shared is None:
            self._waiting.labels(model).set_function(waiting)
            self._ready.labels(model).set_function(ready)

    def update(self) -> None:
        """Write queues and states down: other processes cannot ask this one for them."""
        for model, (waiting, ready) in list(self._watched.items()):
            self._waiting.labels(model).set(waiting())
            self._ready.labels(model).set(ready())

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self._find_requests(route, status).inc()
        self._find_seconds(route).observe(seconds)

    def count_batch(self, model: str, kind: str, texts: int, seconds: float) -> None:
        """Count one batch of texts."""
        self._texts.labels(model, kind).inc(texts)
        self._together.labels(model).observe(texts)
        self._busy.labels(model).inc(seconds)

    def render(self) -> bytes:
        """Format all metrics for Prometheus."""
        if self._shared is None:
            return generate_latest(self.registry)
        everyone = CollectorRegistry()
        MultiProcessCollector(everyone, str(self._shared))  # type: ignore[no-untyped-call]
        return generate_latest(everyone)
