"""Turn explanations into an evaluation: every number, trivial selectors, and the selector's health."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rationalize.evaluation._faithfulness import Faithfulness
from rationalize.evaluation.evaluation import Evaluation
from rationalize.inference.confidence import ConfidenceRule
from rationalize.inference.engine import Explained
from rationalize.metrics.classification import confusion
from rationalize.metrics.confidence_scores import SureLabel, score_confidence
from rationalize.metrics.health import selector_health
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.intervals import score_intervals
from rationalize.metrics.score_table import score, trivial_rows
from rationalize.text.words import find_words_in, word_mask
from rationalize.types import Document, Span


def evaluate(
    explained: Iterable[Explained],
    *,
    split: str,
    seed: int = 0,
    faithfulness: Faithfulness | None = None,
    of_queries: Mapping[str, str] | None = None,
    of_bag: Mapping[str, str] | None = None,
) -> Evaluation:
    """Score explanations against their examples' labels and rationales.

    Args:
        explained: A model's explanations of the examples.
        split: A name for them.
        seed: Seed of the random trivial selector.
        faithfulness: Measured on the same explanations; its numbers join the table.
        of_queries: The model's labels for queries alone, by example id.
        of_bag: The labels of a bag of words, by example id.
    """
    items = tuple(explained)
    instances = [
        replace(
            instance,
            label_query=(of_queries or {}).get(instance.id),
            label_bag=(of_bag or {}).get(instance.id),
        )
        for item in items
        for instance in to_instances(item)
    ]
    labeled = [item for item in items if item.encoded.example.label is not None]
    first = items[0].explanation if items else None
    metrics = score(instances, faithfulness=faithfulness.row if faithfulness else None)
    trivial = trivial_rows(instances, seed=seed)
    if faithfulness:
        trivial["random"] = trivial["random"].add(faithfulness.random_row)
    return Evaluation(
        split=split,
        method=first.method if first else None,
        faithful=first.faithful if first else None,
        labels=tuple(sorted(first.probabilities)) if first else (),
        n_examples=len(items),
        metrics=metrics,
        trivial=trivial,
        health=selector_health(instances),
        confusion=confusion(
            [str(item.encoded.example.label) for item in labeled],
            [item.explanation.label for item in labeled],
        ),
        oracle_label=first.oracle_label if first else False,
        intervals=score_intervals(instances, metrics, _map_texts(items)),
        faithfulness=faithfulness.facts if faithfulness else None,
        confidence=score_confidence(list_sure_labels(items)),
        explained=items,
        measured=faithfulness,
    )


def list_sure_labels(explained: Iterable[Explained], rule: ConfidenceRule | None = None) -> list[SureLabel]:
    """List the labeled examples' predictions with how sure they are, by a rule other than the engine's if given."""
    found = []
    for item in explained:
        explanation, gold = item.explanation, item.encoded.example.label
        if gold is None or not explanation.probabilities:
            continue
        label, confidence = (rule or ConfidenceRule()).judge(explanation.probabilities)
        if rule is None and explanation.confidence is not None:
            confidence = explanation.confidence
        review = explanation.review
        agree = None if review is None else not review
        found.append(SureLabel(gold, label, explanation.probabilities[label], confidence, agree))
    return found


def quick_scores(explained: Sequence[Explained]) -> dict[str, float]:
    """Compute the few numbers that training watches on dev; undefined ones are left out.

    `…_margin` is half the width of a score's 95 % interval, `n` the number of examples.
    """
    instances = [instance for item in explained for instance in to_instances(item)]
    table = score(instances)
    intervals = score_intervals(instances, table, _map_texts(explained))
    wanted = {
        "task_f1": "task_f1_weighted",
        "task_f1_full_text": "task_f1_weighted_full_text",
        "task_f1_rationale": "task_f1_weighted_rationale",
        "token_f1": "token_f1_eraser",
        "selected_fraction": "selected_fraction",
        "selected_fraction_read": "selected_fraction_read",
    }
    found = {short: table.get(name) for short, name in wanted.items()}
    scores = {short: float(value) for short, value in found.items() if value is not None}
    margins = {
        f"{short}_margin": intervals[name].margin for short, name in wanted.items() if name in intervals
    }
    return {**scores, **margins, "n": float(len(explained))}


def _map_texts(explained: Iterable[Explained]) -> dict[str, str]:
    return {item.encoded.example.id: item.encoded.example.text for item in explained}


def to_instances(item: Explained) -> list[ScoredInstance]:
    """Make one instance per document of the example."""
    example, explanation = item.encoded.example, item.explanation
    documents = example.documents or (Document("", 0, len(example.text)),)
    return [_make_instance(item, document, explanation.words) for document in documents]


def _make_instance(item: Explained, document: Document, words: Sequence[Span]) -> ScoredInstance:
    example, explanation = item.encoded.example, item.explanation
    inside = find_words_in(words, Span(document.start, document.end))
    own = words[inside.start : inside.stop]
    piece_gold, piece_selected = _mark_pieces(item, document)
    return ScoredInstance(
        id=example.id,
        document=document.id,
        n_words=len(own),
        n_words_read=min(len(own), max(0, item.encoded.n_words_read - inside.start)),
        selected=explanation.selected[inside.start : inside.stop],
        scores=explanation.scores[inside.start : inside.stop],
        gold=None if example.rationale is None else _to_word_spans(own, example.rationale, document),
        gold_label=example.label,
        label=explanation.label,
        label_full_text=_find_best(explanation.from_full_text),
        label_rationale=_find_best(explanation.from_rationale),
        shortcut_words=None if example.shortcuts is None else tuple(word_mask(own, example.shortcuts)),
        piece_gold=piece_gold,
        piece_selected=piece_selected,
    )


def _to_word_spans(
    words: Sequence[Span], spans: Iterable[Span], document: Document
) -> tuple[tuple[int, int], ...]:
    """Convert spans to word indexes in the document; spans in other documents, or without a word, are left out."""
    found = []
    for span in spans:
        if document.start <= span.start < document.end:
            touched = find_words_in(words, span)
            found += [(touched.start, touched.stop)] if touched else []
    return tuple(found)


def _mark_pieces(
    item: Explained, document: Document
) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    example = item.encoded.example
    if example.rationale is None:
        return None, None
    windows = item.encoded.windows
    gold = np.concatenate([window.mark_pieces(example.rationale)[window.owned] for window in windows])
    starts = np.concatenate([window.starts[window.owned] for window in windows])
    here = (starts >= document.start) & (starts < max(document.end, document.start + 1))
    return tuple(gold[here].astype(int).tolist()), tuple(item.pieces[here].astype(int).tolist())


def _find_best(probabilities: dict[str, float] | None) -> str | None:
    return max(probabilities, key=probabilities.__getitem__) if probabilities else None
