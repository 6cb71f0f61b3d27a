"""Infer environments: texts sorted by the words that an un_rat does not select."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch

from rationalize.errors import ConfigError
from rationalize.methods.invrat.kmeans import kmeans
from rationalize.methods.preparing import Reader, Workbench
from rationalize.methods.select_predict import SelectPredict
from rationalize.models.masking import complement, read_masked
from rationalize.text.batch import InputRow, collate, cut_batches
from rationalize.types import Example

NEARLY_THE_LABEL = 0.9  # of the examples


def infer_environments(bench: Workbench, k: int) -> dict[str, int]:
    """Infer the environment (0 to k - 1) of every training example and augmented copy, by id; an existing artifact is
    reused.

    The un_rat that sorts the texts has the options of the run's shortcut finder, and learns from all examples.
    """
    kept: dict[str, int] = bench.keep_facts("environments", lambda: _sort_texts(bench, k))["environments"]
    return kept


def _sort_texts(bench: Workbench, k: int) -> dict[str, Any]:
    if len(bench.train) < k:
        raise ConfigError(
            f"options.environments is {k}, but there are only {len(bench.train)} training examples. Ask for fewer."
        )
    chosen = bench.shortcuts
    finder = bench.train_method("un_rat", "environments", chosen.finder, chosen.epochs)
    examples = (*bench.train, *bench.augmented)
    return _summarize(kmeans(read_complements(finder, examples), k, bench.seed), examples, bench)


def _summarize(found: Sequence[int], examples: Sequence[Example], bench: Workbench) -> dict[str, Any]:
    """Make the artifact: the environments, their sizes and their agreement with labels, which are also shown."""
    sizes = [size for _, size in sorted(Counter(found).items())]
    agreement = label_agreement([str(example.label) for example in examples], found)
    bench.show(
        f"environments of {', '.join(map(str, sizes))} examples; "
        f"{agreement:.0%} of the examples have their environment's most common label"
    )
    if agreement >= NEARLY_THE_LABEL:
        bench.show(
            "warning: the environments are nearly the labels, so they can teach little (see un_rat's health)"
        )
    by_id = {example.id: number for example, number in zip(examples, found, strict=True)}
    return {"sizes": sizes, "label_agreement": agreement, "environments": by_id}


def label_agreement(labels: Sequence[str], environments: Sequence[int]) -> float:
    """Return the share of examples that have their environment's most common label."""
    commonest: dict[int, int] = {}
    for (environment, _), count in Counter(zip(environments, labels, strict=True)).items():
        commonest[environment] = max(count, commonest.get(environment, 0))
    return sum(commonest.values()) / len(labels)


@torch.inference_mode()
def read_complements(finder: Reader, examples: Sequence[Example]) -> np.ndarray:
    """Read what a trained un_rat does not select: one vector per example (its first window)."""
    method = cast(SelectPredict, finder.method).eval()
    net, device = method.net, next(method.parameters()).device
    windows = [each.windows[0] for each in finder.text.encode_all(examples, truncate=True)]
    vectors = np.empty((len(windows), net.encoder.hidden_size))
    for indexes in cut_batches([len(window) for window in windows], 32):
        rows = [InputRow("", windows[index]) for index in indexes]
        batch = collate(rows, finder.text.pad_id).to(device)
        mask, _ = method.config.selection.decode(net.select(batch), batch, method.cutoff)
        unselected = read_masked(net.encoder, batch, complement(mask, batch), net.masking)
        vectors[indexes] = unselected.pooled.cpu().numpy()
    return vectors
