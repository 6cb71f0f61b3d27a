"""What is asked: explaining, auditing, checking, searching near vectors, holding training texts, at growing sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.scale.measuring import COLUMNS, Action, Make, Prepare, describe, measure
from benchmarks.scale.texts import make_texts, write_texts
from benchmarks.speed.answer import Answer, Row

MAX_TOKENS = 64
WIDTH, CENTERS, QUERIES = 384, 2_000, 10_000
DEV = 300
EXACT = 20_000
"""Vectors that are searched exactly here; the package's own limit is higher."""
FILE = "train.jsonl"
LINEAR = "1 is linear, and memory that does not grow is 1 times the smallest's."


def prepare_explaining(workers: int, folder: Path, size: int) -> Action:
    """Return explaining so many texts of a file, with `tiny`, into another."""
    from benchmarks.speed.models import ATTENTION, build_selector
    from rationalize.corpus.corpus_settings import CorpusSettings
    from rationalize.corpus.explain_corpus import explain_all
    from rationalize.data.example_stream import stream_examples
    from rationalize.data.read_options import ReadOptions
    from rationalize.flat_memory import bound_kernels

    bound_kernels()  # as `rationalize explain` does
    source = folder / FILE
    model = build_selector("tiny", list(make_texts(8)), MAX_TOKENS, layers=1, **ATTENTION)
    settings = CorpusSettings(workers=workers)

    def explain() -> dict[str, float]:
        explain_all(model, stream_examples(source, ReadOptions()), folder / "explained.jsonl", settings)
        return {"disk_mb": (folder / "explained.jsonl").stat().st_size / 2**20}

    return explain


def prepare_audit(workers: int, folder: Path, size: int) -> Action:
    """Return an audit of so many documents of a file; all beyond a few are worked through from disk."""
    from rationalize.audit.whole_audit import audit_data

    source = folder / FILE
    settings = {"semantic": False, "workers": workers, "memory_documents": 1_000}

    def audit() -> None:
        audit_data(source, settings=settings)

    return audit


def prepare_check(folder: Path, size: int) -> Action:
    """Return a check of a file with so many rows."""
    from rationalize.data.validate import check

    source = folder / FILE

    def run() -> None:
        check(source)

    return run


def make_vectors(folder: Path, size: int) -> None:
    """Write so many vectors in clusters."""
    chance = np.random.default_rng(0)
    centers = chance.standard_normal((CENTERS, WIDTH), dtype=np.float32)
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (size, WIDTH))
    for start in range(0, size, 50_000):
        part = vectors[start : start + 50_000]
        noise = chance.standard_normal(part.shape, dtype=np.float32)
        part[:] = centers[chance.integers(0, CENTERS, len(part))] + 0.5 * noise


def prepare_search(folder: Path, size: int) -> Action:
    """Return the search for the nearest of so many vectors on disk, as semantic augmentation does it, index too."""
    from rationalize.inference.retrieval import VectorStore
    from rationalize.inference.vector_index import IndexedStore, needs_index

    stored = np.load(folder / "vectors.npy", mmap_mode="r")
    queries = np.array(stored[: min(QUERIES, size)])

    def search() -> dict[str, float]:
        if not needs_index(size, EXACT):
            VectorStore(stored).nearest(queries, 2)
            return {}
        store = IndexedStore(stored)
        store.nearest(queries, 2)
        return {"recall": store.recall}

    return search


def prepare_rows(map_from: int, folder: Path, size: int) -> Action:
    """Return the whole way from files to the batches of an epoch, and all else that a run does with its texts.

    That is all of a training but the encoder's passes, which need the same memory for any number of texts.
    """
    from torch import device

    from benchmarks.speed.models import configure
    from rationalize.evaluation.bag_of_words import train_bag
    from rationalize.reporting.progress import TrainingDisplay
    from rationalize.runs.auto_preset import look_at
    from rationalize.runs.build import build_untrained
    from rationalize.runs.run import _make_trainer
    from rationalize.runs.training_data import read_training_data
    from rationalize.text.batch import collate

    config = configure("un_rat", "tiny", MAX_TOKENS)
    training = config.training.model_copy(update={"map_from": map_from, "cache": str(folder / "cache")})
    section = config.data.model_copy(update={"path": str(folder)})
    config = config.model_copy(update={"training": training, "data": section})

    def walk() -> dict[str, float]:
        data = read_training_data(config)
        look_at(data.train, data.words)
        data.fingerprint()
        model = build_untrained(config, data)
        with TrainingDisplay(quiet=True) as display:
            trainer = _make_trainer(config, model, data, folder / "run", display, device("cpu"), judged=True)
        for phase, places in trainer._plan_epoch(0):
            collate([trainer.pools[phase.pool][place] for place in places], trainer.pad_id)
        train_bag(data.train, words=data.words, use_query=data.use_query)
        return {"disk_mb": sum(each.stat().st_size for each in folder.rglob("pieces.i32")) / 2**20}

    return walk


def make_splits(folder: Path, size: int) -> None:
    """Write so many texts to train on, and some to choose the epoch on."""
    write_texts(folder / FILE, size)
    write_texts(folder / "dev.jsonl", DEV, seed=1)


def make_file(folder: Path, size: int) -> None:
    """Write so many texts."""
    write_texts(folder / FILE, size)


def ask(
    question: str,
    title: str,
    kinds: dict[str, tuple[Prepare, Sequence[int]]],
    notes: Sequence[str],
    make: Make = make_file,
) -> Answer:
    """Measure every kind at every size, each in a process of its own."""
    rows: list[Row] = []
    for name, (prepare, sizes) in kinds.items():
        rows += describe(name, {size: measure(make, prepare, size) for size in sizes})
    return Answer(question, title, COLUMNS, tuple(rows), (*notes, LINEAR), "wall_s")


def ask_explain(sizes: Sequence[int]) -> Answer:
    """Explain texts, one worker; then the middle size with two workers."""
    middle = sizes[len(sizes) // 2]
    answer = ask(
        "explain",
        "Explaining short texts",
        {
            "explain, 1 worker": (partial(prepare_explaining, 1), sizes),
            "explain, 2 workers": (partial(prepare_explaining, 2), (middle,)),
        },
        [
            "Texts of about 25 words from a JSON Lines file into another, with an untrained `tiny` model (a small "
            "encoder hides nothing); one thread per process."
        ],
    )
    one, two = (answer.find(f"explain, {n} worker{'s' * (n > 1)}: {middle:,}") for n in (1, 2))
    gain = one.numbers["wall_s"] / two.numbers["wall_s"]
    note = f"Two workers explain {middle:,} texts {gain:.2f} times as fast as one."
    return Answer(answer.question, answer.title, COLUMNS, answer.rows, (note, *answer.notes), answer.chart)


def ask_audit(sizes: Sequence[int]) -> Answer:
    """Audit documents with two workers."""
    return ask(
        "audit",
        "Auditing documents for shortcuts",
        {"audit, 2 workers": (partial(prepare_audit, 2), sizes)},
        [
            "`shortcuts audit` without an encoder, all findings included; documents are worked through from disk "
            "at every size."
        ],
    )


def ask_check(sizes: Sequence[int]) -> Answer:
    """Check rows."""
    return ask(
        "check", "Checking rows", {"data check": (prepare_check, sizes)}, ["`data check` of one file."]
    )


def ask_vectors(sizes: Sequence[int]) -> Answer:
    """Search near vectors."""
    return ask(
        "vectors",
        "Near vectors",
        {"near vectors": (prepare_search, sizes)},
        [
            f"{QUERIES:,} queries among vectors of {WIDTH} numbers in a mapped file, in {CENTERS:,} clusters; up to "
            f"{EXACT:,} are searched exactly, more through an index, which is made anew. Recall is that of the nearest "
            "vector, on a sample. Pages of the mapped file count as memory while the system has room."
        ],
        make_vectors,
    )


def ask_rows(sizes: Sequence[int]) -> Answer:
    """Hold training texts."""
    return ask(
        "rows",
        "Training texts, from files to batches",
        {
            "in memory": (partial(prepare_rows, 10**9), sizes[:-1] or sizes),
            "on disk": (partial(prepare_rows, 0), sizes),
        },
        [
            "All that a run does with its texts apart from the encoder's passes: reading and checking files (train, "
            f"and {DEV} of dev), the look of `auto`, the fingerprint, a tokenizer learned from all texts, pieces, an "
            "epoch's order and its batches, the bag of words."
        ],
        make_splits,
    )
