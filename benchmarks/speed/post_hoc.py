"""What people use to explain a plain classifier: captum, SHAP and LIME, each called as its documentation shows it.

All give one number per word of the text, for the class that the classifier predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from benchmarks.speed.plain_label import BATCH, PlainLabel
from rationalize.text.words import WordRule, word_spans
from rationalize.types import Example, Span

Scores = list[float]
Explainer = Callable[[Example, WordRule], Scores]
STEPS = 50
LIME_SAMPLES = 500
SHAP_CALLS = 500
"""SHAP's own default."""


def spread_over_words(
    values: Sequence[float], bounds: Sequence[tuple[int, int]], words: Sequence[Span]
) -> Scores:
    """Give each word the sum of the values of the pieces that it shares a character with."""
    found = [0.0] * len(words)
    for value, (start, end) in zip(values, bounds, strict=True):
        for index, word in enumerate(words):
            if start < word.end and word.start < end:
                found[index] += float(value)
    return found


def integrate_gradients(plain: PlainLabel) -> Explainer:
    """Return captum's integrated gradients over embeddings, from those of padding, in 50 steps."""
    from captum.attr import IntegratedGradients

    embed = plain.bert.get_input_embeddings()

    def forward(embedded: torch.Tensor) -> torch.Tensor:
        attention = torch.ones(embedded.shape[:2], dtype=torch.long)
        return plain.logits_of(attention, inputs_embeds=embedded).softmax(-1)

    explainer = IntegratedGradients(forward)

    def explain(example: Example, rule: WordRule) -> Scores:
        coded = plain.tokenizer(
            example.text, truncation=True, max_length=plain.max_tokens, return_offsets_mapping=True
        )
        ids = torch.tensor([coded["input_ids"]])
        with torch.no_grad():
            embedded = embed(ids)
            label = int(forward(embedded).argmax())
            nothing = embed(torch.full_like(ids, plain.tokenizer.pad_token_id))
        found = explainer.attribute(
            embedded, baselines=nothing, target=label, n_steps=STEPS, internal_batch_size=BATCH
        )
        return spread_over_words(
            found.sum(-1)[0].tolist(), coded["offset_mapping"], word_spans(example.text, rule)
        )

    return explain


def partition_shap(plain: PlainLabel) -> Explainer:
    """Return SHAP's partition explainer for texts."""
    import shap

    def predict(texts: Sequence[str]) -> np.ndarray:
        parts = [list(texts)[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        return np.concatenate([plain.probabilities(part).numpy() for part in parts])

    explainer = shap.Explainer(predict, shap.maskers.Text(plain.tokenizer), silent=True)

    def explain(example: Example, rule: WordRule) -> Scores:
        label = int(plain.probabilities([example.text]).argmax())
        found = explainer([example.text], max_evals=SHAP_CALLS)
        bounds, at = [], 0
        for piece in found.data[0]:  # the pieces join to the text
            bounds.append((at, at + len(piece)))
            at += len(piece)
        return spread_over_words(found.values[0][:, label].tolist(), bounds, word_spans(example.text, rule))

    return explain


def perturb_with_lime(plain: PlainLabel) -> Explainer:
    """Return LIME for texts, which fits a linear model to texts with words left out."""
    from lime.lime_text import LimeTextExplainer

    def explain(example: Example, rule: WordRule) -> Scores:
        words = word_spans(example.text, rule)

        def split(text: str) -> list[str]:
            return [text[span.start : span.end] for span in word_spans(text, rule)]

        def predict(texts: Sequence[str]) -> np.ndarray:
            parts = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
            return np.concatenate([plain.probabilities(part).numpy() for part in parts])

        explainer = LimeTextExplainer(split_expression=split, bow=False, random_state=0)
        label = int(plain.probabilities([example.text]).argmax())
        found = explainer.explain_instance(
            example.text, predict, labels=(label,), num_features=len(words), num_samples=LIME_SAMPLES
        )
        scores = dict(found.as_map()[label])
        return [float(scores.get(index, 0.0)) for index in range(len(words))]

    return explain
