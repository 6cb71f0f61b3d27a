"""Explain texts of three lengths, beside the plain label: how much time an explanation adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.speed.answer import Answer, Row
from benchmarks.speed.clock import Timing, take_turns
from benchmarks.speed.corpora import Corpus
from benchmarks.speed.models import ATTENTION, EncoderChoice, build_classifier, build_selector, export_int8
from benchmarks.speed.plain_label import PlainLabel
from rationalize.config import Precision
from rationalize.inference.engine import Explained
from rationalize.runs.model_folder import Model
from rationalize.types import Example

Reader = Callable[[Sequence[Example]], Any]
ONE, BATCHES = "plain label, one text at a time", "plain label, batches of 32 by length"
WARM = 4
"""Texts that everything reads before the first round."""
COLUMNS = {
    "ratio": "processor time of the best plain label",
    "cpu_ms": "processor ms per text",
    "wall_ms": "wall ms per text",
    "spread": "spread",
}


def explain_all(model: Model, precision: Precision = "fp32") -> Reader:
    """Return a function that explains texts, each cut to one window, as the plain label reads it."""
    engine = model.engine(precision=precision)
    return lambda examples: list(engine.explain(examples, truncate=True))


def predict_all(model: Model, precision: Precision = "fp32") -> Reader:
    """Return a function that only labels texts."""
    engine = model.engine(precision=precision)
    return lambda examples: list(engine.predict(examples, truncate=True))


def collect_readers(corpus: Corpus, encoder: EncoderChoice) -> dict[str, Reader]:
    """Return what is timed, by name."""
    texts, length = corpus.examples, corpus.max_tokens
    plain = PlainLabel.from_full_text(build_classifier(encoder.name, texts, length))
    full = encoder.depth

    def build(layers: int | None, **others: Any) -> Model:
        return build_selector(encoder.name, texts, length, layers=layers, **{**ATTENTION, **others})

    whole = build(None)
    shallow = {layers: build(layers) for layers in encoder.shallow}
    least = min(shallow)
    exported = {
        layers: export_int8(model, encoder.folder / f"int8-{encoder.name}-{length}-{layers}")
        for layers, model in ((full, whole), (least, shallow[least]))
    }
    rounded = replace(plain, precision="bf16")
    middle = max(shallow)
    return {
        ONE: plain.label_one_by_one,
        BATCHES: plain.label_by_length,
        f"{ONE}, bf16": rounded.label_one_by_one,
        f"{BATCHES}, bf16": rounded.label_by_length,
        f"explain, {full} of {full} layers": explain_all(whole),
        **{f"explain, {k} of {full} layers": explain_all(model) for k, model in shallow.items()},
        f"explain, {full} of {full} layers, mix": explain_all(build(None, masking="mix")),
        f"predict, {full} of {full} layers": predict_all(whole),
        **{f"predict, {k} of {full} layers": predict_all(model) for k, model in shallow.items()},
        f"explain, {full} of {full} layers, bf16": explain_all(whole, "bf16"),
        f"explain, {middle} of {full} layers, bf16": explain_all(shallow[middle], "bf16"),
        f"predict, {full} of {full} layers, bf16": predict_all(whole, "bf16"),
        **{f"explain, {k} of {full} layers, int8": explain_all(model) for k, model in exported.items()},
        f"predict, {full} of {full} layers, int8": predict_all(exported[full]),
    }


def measure_explaining(name: str, corpus: Corpus, encoder: EncoderChoice, rounds: int) -> Answer:
    """Time every reader on the same texts."""
    readers = collect_readers(corpus, encoder)
    for read in readers.values():
        read(corpus.examples[:WARM])
    again = find_share_read_again(
        readers[f"explain, {encoder.depth} of {encoder.depth} layers"](corpus.examples)
    )
    found = take_turns({each: partial(read, corpus.examples) for each, read in readers.items()}, rounds)
    best = min((found[ONE], found[BATCHES]), key=lambda timing: timing.median_cpu)
    words = sum(len(each.text.split()) for each in corpus.examples) / len(corpus.examples)
    return Answer(
        question=f"explain-{name}",
        title=f"Explaining {name} texts: {corpus.name}",
        columns=COLUMNS,
        rows=tuple(make_row(each, timing, best, len(corpus.examples)) for each, timing in found.items()),
        notes=(
            f"{len(corpus.examples)} texts of {words:.0f} words (mean), {rounds} rounds, encoder {encoder.name}, at "
            f"most {corpus.max_tokens} pieces of each text.",
            "Weights are untrained here, which changes no speed; a fifth of the pieces is selected, the rest hidden by "
            f"attention unless a line says mix. With the rest of their words and special tokens, {again:.0%} of the "
            "pieces are read again. The base is the plain label in fp32; with bf16 it has lines of its own (torch's "
            "autocast).",
        ),
        chart="ratio",
    )


def find_share_read_again(explained: Sequence[Explained]) -> float:
    """Return how many of the pieces that a selector read its predictor reads: selected ones, and all specials."""
    windows = [window for item in explained for window in item.encoded.windows]
    specials = sum(int((~window.selectable).sum()) for window in windows)
    selected = sum(int(item.pieces.sum()) for item in explained)
    return (selected + specials) / sum(len(window) for window in windows)


def make_row(name: str, timing: Timing, base: Timing, n: int) -> Row:
    """Return a line of the table."""
    return Row(
        name,
        {
            "ratio": timing.ratio_to(base),
            "cpu_ms": 1000 * timing.median_cpu / n,
            "wall_ms": 1000 * timing.median_wall / n,
            "spread": timing.spread,
        },
        timing,
    )
