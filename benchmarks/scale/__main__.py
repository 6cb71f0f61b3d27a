"""`python -m benchmarks.scale`: measure what is missing, then write the page."""

from __future__ import annotations

import os

# Before torch is loaded, which reads it once.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.scale.plans import write_plans
from benchmarks.scale.questions import ask_audit, ask_check, ask_explain, ask_rows, ask_vectors
from benchmarks.speed.answer import Answer
from benchmarks.speed.asking import answer_missing, make_parser
from benchmarks.speed.page import write_page

ANSWERS = Path(__file__).parent / "answers"
SIZES = (10_000, 100_000, 1_000_000)
QUESTIONS: dict[str, Callable[[Sequence[int]], Answer]] = {
    "explain": ask_explain,
    "audit": ask_audit,
    "check": ask_check,
    "vectors": ask_vectors,
    "rows": ask_rows,
}


def main() -> None:
    """Answer the questions that are wanted and not answered yet, one by one, and write the page."""
    parser = make_parser("benchmarks.scale", __doc__, ANSWERS, "scale.md")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="Numbers of texts.")
    given = parser.parse_args()
    sizes = sorted(given.sizes)
    found = answer_missing(parser, given, {name: partial(ask, sizes) for name, ask in QUESTIONS.items()})
    if found:
        write_page(found, given.page, given.figures, name="scale")
        write_plans({answer.question: answer for answer, _ in found}, given.page)


if __name__ == "__main__":
    main()
