"""Cost against size, with the exponents of the power laws through it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from benchmarks.speed.answer import Answer, Row
from benchmarks.speed.children import Cost

GROWTH = {
    "size": "size",
    "cpu_s": "processor s",
    "wall_s": "wall s",
    "megabytes": "MB added",
    "exponent": "exponent of time",
    "memory_exponent": "exponent of memory",
}


def describe_growth(name: str, costs: Mapping[int, Cost]) -> Iterator[Row]:
    """Yield a row for every size; the largest has the exponents."""
    for size, cost in costs.items():
        numbers = {
            "size": float(size),
            "cpu_s": cost.timing.median_cpu,
            "wall_s": cost.timing.median_wall,
            "megabytes": cost.megabytes,
        }
        if size == max(costs) and len(costs) > 1:
            numbers["exponent"] = fit_exponent({n: each.timing.median_cpu for n, each in costs.items()})
            numbers["memory_exponent"] = fit_exponent({n: max(0.1, c.megabytes) for n, c in costs.items()})
        yield Row(f"{name}: {size:,}", numbers, cost.timing)


def answer_growth(question: str, title: str, kinds: Mapping[str, Mapping[int, Cost]], note: str) -> Answer:
    """Make the answer to how costs, by kind and size, grow."""
    rows = tuple(row for name, costs in kinds.items() for row in describe_growth(name, costs))
    return Answer(question=question, title=title, columns=GROWTH, rows=rows, notes=(note,), chart="cpu_s")


def fit_exponent(measured: Mapping[int, float]) -> float:
    """Return e of y ~ x^e, by least squares between logarithms."""
    points = [(math.log(x), math.log(max(y, 1e-9))) for x, y in measured.items()]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    across = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return across / sum((x - mean_x) ** 2 for x, _ in points)
