"""What grows with the data: the shortcut audit, the check of data, and the search for near words."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.speed.answer import Answer
from benchmarks.speed.children import Prepare, measure_alone
from benchmarks.speed.growth import answer_growth

WIDTH, QUERIES = 384, 64


def prepare_audit(size: int) -> Callable[[], object]:
    """Return an audit of so many planted documents, without an encoder."""
    from rationalize.audit.whole_audit import audit_data
    from rationalize.data.planted import make_corpus

    data = make_corpus(sizes={"train": size})
    return partial(audit_data, data, "train", settings={"semantic": False})


def prepare_check(size: int) -> Callable[[], object]:
    """Return a check of a file with so many rows."""
    from rationalize.data.jsonl import to_row
    from rationalize.data.planted import make_corpus
    from rationalize.data.validate import check
    from rationalize.files import json_line

    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "train.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json_line(to_row(each)) for each in make_corpus(sizes={"train": size}).split("train"))

    def run() -> None:
        with folder:
            check(path)

    return run


def _make_vectors(size: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    stored = random.standard_normal((size, WIDTH), dtype=np.float32)
    return stored, random.standard_normal((QUERIES, WIDTH), dtype=np.float32)


def prepare_search(size: int) -> Callable[[], object]:
    """Return the search for the nearest of so many vectors, index included, as semantic augmentation does it."""
    from rationalize.inference.retrieval import VectorStore

    stored, queries = _make_vectors(size)
    return lambda: VectorStore(stored).nearest(queries)


def prepare_brute_force(size: int) -> Callable[[], object]:
    """Return the same search by numpy, query by query."""
    stored, queries = _make_vectors(size)
    return lambda: [int(((stored - query) ** 2).sum(1).argmin()) for query in queries]


KINDS: dict[str, Prepare] = {
    "shortcut audit, documents": prepare_audit,
    "data check, rows": prepare_check,
    f"{QUERIES} near words among vectors": prepare_search,
    f"{QUERIES} near words among vectors, numpy": prepare_brute_force,
}


def measure_scale(sizes: Sequence[int], most_vectors: int) -> Answer:
    """Measure every kind at every size, each in a process of its own."""
    kinds = {}
    for name, prepare in KINDS.items():
        wanted = [size for size in sizes if "vectors" not in name or size <= most_vectors]
        kinds[name] = {size: measure_alone(prepare, size) for size in wanted}
    return answer_growth(
        "scale",
        "Many documents",
        kinds,
        "Planted documents; every line is one process, measured once after its input was made. The exponent is "
        "that of the power law through all sizes of a kind: 1 is linear.",
    )
