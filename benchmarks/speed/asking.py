"""Answer the questions that are wanted and not answered yet, one by one: what all benchmarks' commands share."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

from benchmarks.speed.answer import Answer, read_answer, write_answer
from benchmarks.speed.machine import describe_machine

ROOT = Path(__file__).parents[2]
PLACES = {"--data": "DATA", "--out": "OUT", "--page": "PAGE", "--figures": "FIGURES", "--models": "MODELS"}

Answered = tuple[Answer, dict[str, str]]


def make_parser(module: str, about: str | None, answers: Path, page: str) -> argparse.ArgumentParser:
    """Return the options that every such command has."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    add = parser.add_argument
    add("questions", nargs="*", help="Only these; all if none is named.")
    add("--out", type=Path, default=answers, help="Folder for answers; what is there is not measured.")
    add("--page", type=Path, default=ROOT / "docs" / page)
    add("--figures", type=Path, default=ROOT / "docs" / "figures")
    add("--page-only", action="store_true", help="Only write the page, from the answers there are.")
    return parser


def answer_missing(
    parser: argparse.ArgumentParser, given: argparse.Namespace, questions: Mapping[str, Callable[[], Answer]]
) -> list[Answered]:
    """Answer what is wanted and missing; return all answers that there are, with the facts of their machines."""
    unknown = set(given.questions) - set(questions)
    if unknown:
        parser.error(f"unknown questions: {', '.join(sorted(unknown))}; known: {', '.join(questions)}")
    for question, ask in questions.items():
        if given.page_only or (given.questions and question not in given.questions):
            continue
        if (given.out / f"{question}.json").is_file():
            print(f"{question}: answered already", flush=True)
            continue
        command = _describe_command(parser.prog)
        facts = describe_machine() | {"command": command, "date": time.strftime("%Y-%m-%d")}
        start = time.perf_counter()
        write_answer(ask(), given.out, facts)
        print(f"{question}: {time.perf_counter() - start:.0f} s", flush=True)
    kept = [given.out / f"{question}.json" for question in questions]
    return [read_answer(path) for path in kept if path.is_file()]


def _describe_command(program: str) -> str:
    """Return the command without the places of this machine."""
    words = ["", *sys.argv[1:]]
    return shlex.join([*program.split(), *(PLACES.get(before, word) for before, word in pairwise(words))])
