"""`python -m benchmarks.speed`: measure what is missing, then write the page."""

from __future__ import annotations

import os

# Before torch is loaded, which reads it once. One thread: other work on the machine then changes little.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks.speed.answer import Answer
from benchmarks.speed.asking import ROOT, answer_missing, make_parser
from benchmarks.speed.corpora import load_corpus
from benchmarks.speed.models import EncoderChoice
from benchmarks.speed.page import write_page

ANSWERS = Path(__file__).parent / "answers"
ARCHIVES = ROOT.parent / "shared" / "data"
TEXTS = {"short": "tweets", "medium": "imdb", "long": "movies"}


def plan(arguments: argparse.Namespace) -> dict[str, Callable[[], Answer]]:
    """Return every question with the function that answers it."""
    from benchmarks.speed.explaining import measure_explaining
    from benchmarks.speed.hf_trainer import measure_trainings
    from benchmarks.speed.quality import Budget, measure_quality
    from benchmarks.speed.slopes import measure_slopes
    from benchmarks.speed.stepping import measure_steps

    quick, small, data = arguments.quick, arguments.texts, arguments.data
    encoder = EncoderChoice(arguments.encoder, arguments.models)
    texts = {"short": 200, "medium": 16, "long": 8} if quick else {"short": 1000, "medium": 200, "long": 100}
    rounds = 3 if quick else 5

    def explain(kind: str) -> Answer:
        corpus = load_corpus(TEXTS[kind], data, small or texts[kind])
        return measure_explaining(kind, corpus, encoder, rounds)

    def step(name: str) -> Answer:
        corpus = load_corpus(name, data, small or 64, "train")
        return measure_steps(corpus, encoder, 1 if quick else 4, 2 if quick else 5)

    def judge() -> Answer:
        budget = Budget(1000, 2, 8, rounds) if quick else Budget(8000, 3, 50, rounds)
        if small:
            budget = Budget(small, 1, 2, 1)
        return measure_quality(
            load_corpus("tweets", data, small or (200 if quick else 1000)), encoder, budget
        )

    found = {f"explain-{kind}": lambda kind=kind: explain(kind) for kind in TEXTS}
    found["explain-quality"] = judge
    found |= {f"steps-{name}": lambda name=name: step(name) for name in ("fever", "multirc", "movies")}
    if encoder.name != "tiny":  # which is nothing that Trainer could load
        steps, turns = (8, 2) if quick else (40, 5)
        found["training"] = lambda: measure_trainings(encoder.name, data, steps, turns, min(encoder.shallow))
    found["slopes"] = lambda: measure_slopes(
        "tiny",
        (small, 2 * small) if small else (100, 200, 400, 800),
        (300, 600) if small else (1_000, 3_000, 10_000, 30_000, 100_000),
        (512,) if small else (256, 512, 1024, 2048, 4096),
    )
    return found


def main() -> None:
    """Answer the questions that are wanted and not answered yet, one by one, and write the page."""
    parser = make_parser("benchmarks.speed", __doc__, ANSWERS, "performance.md")
    parser.add_argument(
        "--quick", action="store_true", help="Fewer texts and rounds, meant for 20 minutes on two cores."
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=ARCHIVES,
        help="Folder with archives (tweets.tar.gz, imdb_test, movies, fever, multirc); else planted texts stand in.",
    )
    parser.add_argument(
        "--models", type=Path, default=ROOT / "build" / "bench", help="Folder for trained models."
    )
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--texts", type=int, default=None, help="So few texts of everything, to try it out.")
    given = parser.parse_args()
    found = answer_missing(parser, given, plan(given))
    if found:
        write_page(found, given.page, given.figures)


if __name__ == "__main__":
    main()
