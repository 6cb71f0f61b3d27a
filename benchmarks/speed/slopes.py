"""How time and memory of explaining grow with documents, with the length of one, and with the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from benchmarks.speed.answer import Answer
from benchmarks.speed.children import measure_alone
from benchmarks.speed.corpora import load_corpus
from benchmarks.speed.growth import answer_growth
from benchmarks.speed.models import ATTENTION, build_selector

MAX_TOKENS = 256
BATCH_TEXTS = 16


def prepare_documents(encoder: str, size: int) -> Callable[[], object]:
    """Return explaining so many documents of 230 words."""
    texts = load_corpus("imdb", None, size).examples
    engine = build_selector(encoder, texts, MAX_TOKENS, layers=1, **ATTENTION).engine()
    list(engine.explain(texts[:2]))
    return lambda: sum(1 for _ in engine.explain(texts))


def prepare_length(encoder: str, size: int) -> Callable[[], object]:
    """Return explaining one document of so many words, in windows."""
    texts = load_corpus("imdb", None, 8).examples
    engine = build_selector(encoder, texts, MAX_TOKENS, layers=1, **ATTENTION).engine()
    words = texts[0].text.split(" ")
    text = " ".join((words * (size // len(words) + 1))[:size])
    long = replace(texts[0], text=text, rationale=None)
    list(engine.explain(texts[:2]))
    return lambda: list(engine.explain([long]))


def prepare_batch(encoder: str, size: int) -> Callable[[], object]:
    """Return explaining a few documents in batches of so many pieces."""
    texts = load_corpus("imdb", None, BATCH_TEXTS).examples
    model = build_selector(encoder, texts, MAX_TOKENS, layers=1, **ATTENTION)
    engine = model.engine(batch_tokens=size)
    list(engine.explain(texts[:1]))
    return lambda: list(engine.explain(texts))


def measure_slopes(
    encoder: str, documents: Sequence[int], lengths: Sequence[int], batches: Sequence[int]
) -> Answer:
    """Measure at every size, each in a process of its own."""
    kinds = {
        "documents": (prepare_documents, documents),
        "words of one document": (prepare_length, lengths),
        "pieces of a batch": (prepare_batch, batches),
    }
    return answer_growth(
        "slopes",
        "How cost grows",
        {
            name: {size: measure_alone(prepare, encoder, size) for size in sizes}
            for name, (prepare, sizes) in kinds.items()
        },
        f"Explaining planted texts with the encoder {encoder}, windows of {MAX_TOKENS} pieces, selection by 1 "
        "layer; every line is one process, measured once. A small encoder hides nothing: what is not the encoder "
        "shows. The exponent is that of the power law through all sizes: 1 is linear.",
    )
