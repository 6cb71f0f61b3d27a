"""Explanations of short texts by trained models: time, and beside it what the explanations are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.speed.answer import Answer, Row
from benchmarks.speed.clock import Timing, take_turns, time_once
from benchmarks.speed.corpora import Corpus, write_stand_in
from benchmarks.speed.explaining import BATCHES, ONE
from benchmarks.speed.models import ATTENTION, EncoderChoice, export_int8, train_once
from benchmarks.speed.plain_label import PlainLabel
from benchmarks.speed.post_hoc import (
    LIME_SAMPLES,
    SHAP_CALLS,
    Explainer,
    integrate_gradients,
    partition_shap,
    perturb_with_lime,
)
from rationalize.data.splits import limit
from rationalize.evaluation._faithfulness import measure_faithfulness
from rationalize.evaluation.scoring import evaluate
from rationalize.inference.engine import Engine, Explained
from rationalize.metrics.selectors import top_share
from rationalize.runs.model_folder import Model
from rationalize.text.words import mask_spans
from rationalize.types import Example

COLUMNS = {
    "ratio": "processor time of the best plain label",
    "cpu_ms": "processor ms per text",
    "wall_ms": "wall ms per text",
    "spread": "spread",
    "task_f1": "task F1",
    "token_f1": "token F1",
    "comprehensiveness": "comprehensiveness ↑",
    "sufficiency": "sufficiency ↓",
    "selected": "selected",
    "n": "texts",
}
IG = "captum integrated gradients, 50 steps"


@dataclass(frozen=True)
class Budget:
    """How much is measured.

    Attributes:
        train: Training texts of each model.
        epochs: Epochs of each model.
        few: Texts that slow explainers read.
        rounds: Rounds of the others.
    """

    train: int
    epochs: int
    few: int
    rounds: int


@dataclass(frozen=True)
class Contender:
    """One way to explain: a function of texts, and the model whose decision it explains."""

    explain: Callable[[Sequence[Example]], list[Explained]]
    engine: Engine
    slow: bool = False


def place_models(corpus: Corpus, encoder: EncoderChoice, budget: Budget) -> Path:
    """Return the folder of the models that are trained like this."""
    return encoder.folder / f"{corpus.name.split()[0]}-{encoder.name}-{budget.train}x{budget.epochs}"


def train_models(corpus: Corpus, encoder: EncoderChoice, budget: Budget) -> dict[str, Model]:
    """Train the classifier and the selectors, or load what an earlier run trained."""
    common: dict[str, Any] = {
        "data": {"limit": budget.train, "dev_limit": 200, "gold_share": 0.5},
        "training": {"epochs": budget.epochs},
    }
    place = place_models(corpus, encoder, budget)
    data = corpus.archive or write_stand_in(corpus, place / "data")
    found = {"full_text": train_once(place / "full_text", data, "full_text", encoder.name, **common)}
    for layers in (None, *encoder.shallow):
        selection = {**ATTENTION, "layers": layers} if layers else dict(ATTENTION)
        name = f"k{layers or encoder.depth}"
        options = {"selection": selection}
        found[name] = train_once(place / name, data, "semi_rat", encoder.name, options=options, **common)
    return found


def collect_contenders(
    models: dict[str, Model], encoder: EncoderChoice, place: Path, share: float
) -> dict[str, Contender]:
    """Return all ways to explain, by the name in the table."""
    full, classifier = encoder.depth, models["full_text"]
    plain = PlainLabel.from_full_text(classifier)
    found: dict[str, Contender] = {}
    for layers in (full, *encoder.shallow):
        found[f"explain, {layers} of {full} layers"] = _explain_with(models[f"k{layers}"].engine())
    found[f"explain, {full} of {full} layers, bf16"] = _explain_with(
        models[f"k{full}"].engine(precision="bf16")
    )
    for layers in (full, min(encoder.shallow)):
        exported = export_int8(models[f"k{layers}"], place / f"int8-k{layers}").engine()
        found[f"explain, {layers} of {full} layers, int8"] = _explain_with(exported)
    for kind in ("attention", "gradient_x_input"):
        found[f"full text: {kind}"] = _explain_with(_attribute(classifier, kind, share))
    leaving = replace(_explain_with(_attribute(classifier, "leave_one_out", share)), slow=True)
    found["full text: leave_one_out"] = leaving
    post_hoc = {
        IG: integrate_gradients,
        f"SHAP partition explainer, {SHAP_CALLS} calls": partition_shap,
        f"LIME, {LIME_SAMPLES} samples": perturb_with_lime,
    }
    control = _attribute(classifier, "random", share)
    for name, make in post_hoc.items():
        found[name] = Contender(partial(_explain_after, control, make(plain), share), control, slow=True)
    found["full text: random words"] = _explain_with(control)
    return found


def _explain_with(engine: Engine) -> Contender:
    return Contender(lambda examples: list(engine.explain(examples, truncate=True)), engine)


def _attribute(model: Model, kind: str, share: float) -> Engine:
    """Return an engine of the same classifier with another attribution."""
    method = copy(model.method)
    method.config = method.config.model_copy(update={"attribution": kind, "share": share})
    engine = model.engine()
    return Engine(method, engine.text, engine.labels)


def _explain_after(
    control: Engine, explain: Explainer, share: float, examples: Sequence[Example]
) -> list[Explained]:
    """Explain by an outside explainer; label and words come from the classifier."""
    found = []
    for item in control.explain(examples, truncate=True):
        scores = explain(item.encoded.example, control.text.words)
        chosen = top_share(scores, share)
        words = item.encoded.words
        said = replace(
            item.explanation, selected=chosen, scores=tuple(scores), spans=mask_spans(words, chosen)
        )
        found.append(replace(item, explanation=said))
    return found


def measure_quality(corpus: Corpus, encoder: EncoderChoice, budget: Budget) -> Answer:
    """Time every way to explain, and score what it says; models are trained first, unless they are there."""
    models = train_models(corpus, encoder, budget)
    few = limit(corpus.examples, budget.few)
    share = float(models["full_text"].config.options["share"])
    contenders = collect_contenders(models, encoder, place_models(corpus, encoder, budget), share)
    plain = PlainLabel.from_full_text(models["full_text"])
    for each in contenders.values():
        each.explain(few[:1])
    quick = {
        ONE: partial(plain.label_one_by_one, corpus.examples),
        BATCHES: partial(plain.label_by_length, corpus.examples),
        **{n: partial(each.explain, corpus.examples) for n, each in contenders.items() if not each.slow},
    }
    timings = take_turns(quick, budget.rounds)
    best = min((timings[ONE], timings[BATCHES]), key=lambda timing: timing.median_cpu)
    whole = len(corpus.examples)
    rows = [Row(name, _per_text(timings[name], best, whole, whole), timings[name]) for name in (ONE, BATCHES)]
    for name, each in contenders.items():
        said: list[Explained] = []
        texts = few if each.slow else corpus.examples
        timing = timings.get(name) or time_once(lambda each=each, said=said: said.extend(each.explain(few)))
        numbers = _per_text(timing, best, len(texts), whole)
        numbers |= score(said or each.explain(corpus.examples), each.engine) | {"n": len(texts)}
        rows.append(Row(name, numbers, timing, extrapolated=each.slow))
    return Answer(
        question="explain-quality",
        title=f"Explanations and what they are worth: {corpus.name}, trained models",
        columns=COLUMNS,
        rows=tuple(rows),
        notes=(
            f"All models learned from {budget.train} texts in {budget.epochs} epoch(s), half of them with gold; "
            f"the same encoder, {encoder.name}. Post-hoc explainers explain the same classifier of full texts and show "
            f"{share:.0%} of the words, as the selectors do on average.",
            f"Lines marked * were measured on {budget.few} of the {whole} texts, once; their scores are rough.",
            "Comprehensiveness and sufficiency: how much the probability of the label falls without the words shown, "
            "and with them alone, by deleting words; each model is asked about its own label.",
        ),
        chart="ratio",
    )


def _per_text(timing: Timing, best: Timing, n: int, whole: int) -> dict[str, float]:
    return {
        "ratio": (timing.median_cpu / n) / (best.median_cpu / whole),
        "cpu_ms": 1000 * timing.median_cpu / n,
        "wall_ms": 1000 * timing.median_wall / n,
        **({"spread": timing.spread} if len(timing.cpu) > 1 else {}),
    }


def score(said: Iterable[Explained], engine: Engine) -> dict[str, float]:
    """Score explanations: the label, the words, and whether the model relies on them."""
    items = list(said)
    measured = measure_faithfulness(engine, items, bins=())
    metrics = evaluate(items, split="test", faithfulness=measured).metrics
    wanted = {
        "task_f1": "task_f1_weighted",
        "token_f1": "token_f1_eraser",
        "comprehensiveness": "comprehensiveness",
        "sufficiency": "sufficiency",
        "selected": "selected_fraction",
    }
    found = {short: metrics.get(name) for short, name in wanted.items()}
    return {short: float(value) for short, value in found.items() if value is not None}
