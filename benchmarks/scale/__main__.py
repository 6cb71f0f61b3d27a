"""`python -m benchmarks.scale`: measure what is missing, then write the page."""

from __future__ import annotations

import os

# Before torch is loaded, which reads it once.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.scale.plans import write_plans
from benchmarks.scale.questions import ask_audit, ask_check, ask_explain, ask_rows, ask_vectors
from benchmarks.speed.answer import Answer, read_answer, write_answer
from benchmarks.speed.machine import describe_machine
from benchmarks.speed.page import write_page

ROOT = Path(__file__).parents[2]
ANSWERS = Path(__file__).parent / "answers"
PLACES = {"--out": "OUT", "--page": "PAGE", "--figures": "FIGURES"}
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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument(
        "questions", nargs="*", help=f"Only these of {', '.join(QUESTIONS)}; all if none is named."
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="Numbers of texts.")
    parser.add_argument(
        "--out", type=Path, default=ANSWERS, help="Folder for answers; what is there is not measured."
    )
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "scale.md")
    parser.add_argument("--figures", type=Path, default=ROOT / "docs" / "figures")
    parser.add_argument(
        "--page-only", action="store_true", help="Only write the page, from the answers there are."
    )
    arguments = parser.parse_args()
    unknown = set(arguments.questions) - set(QUESTIONS)
    if unknown:
        parser.error(f"unknown questions: {', '.join(sorted(unknown))}; known: {', '.join(QUESTIONS)}")
    for question, ask in QUESTIONS.items():
        if arguments.page_only or (arguments.questions and question not in arguments.questions):
            continue
        if (arguments.out / f"{question}.json").is_file():
            print(f"{question}: answered already", flush=True)
            continue
        facts = describe_machine() | {"command": _describe_command(), "date": time.strftime("%Y-%m-%d")}
        start = time.perf_counter()
        write_answer(ask(sorted(arguments.sizes)), arguments.out, facts)
        print(f"{question}: {time.perf_counter() - start:.0f} s", flush=True)
    found = [read_answer(path) for name in QUESTIONS if (path := arguments.out / f"{name}.json").is_file()]
    if found:
        write_page(found, arguments.page, arguments.figures, name="scale")
        write_plans({answer.question: answer for answer, _ in found}, arguments.page)


def _describe_command() -> str:
    """Return the command without the places of this machine."""
    words = ["python", "-m", "benchmarks.scale", *sys.argv[1:]]
    return shlex.join(["python", *(PLACES.get(before, word) for before, word in pairwise(words))])


if __name__ == "__main__":
    main()
