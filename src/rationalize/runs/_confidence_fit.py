"""Find on dev how sure a trained model is, for its folder to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rationalize.evaluation.evaluation import Evaluation
from rationalize.evaluation.scoring import list_sure_labels
from rationalize.inference.confidence import LEAST_EXAMPLES, ConfidenceRule, fit_temperature
from rationalize.metrics.confidence_scores import ConfidenceScores, score_confidence
from rationalize.runs.model_folder import ConfidenceRecord


def fit_confidence(
    evaluation: Evaluation, labels: Sequence[str]
) -> tuple[ConfidenceRecord | None, ConfidenceScores | None]:
    """Fit a temperature to an evaluation on dev; return what the model keeps, and the scores under it.

    Nothing is kept if there are too few labeled examples; the scores are then those of the plain probabilities. A
    temperature that does not lower the calibration error on these very examples is not used: on few of them a single
    wrong label can decide it.
    """
    labeled = [item for item in evaluation.explained if item.encoded.example.label in labels]
    if len(labeled) < LEAST_EXAMPLES:
        return None, evaluation.confidence
    rows = [[item.explanation.probabilities[label] for label in labels] for item in labeled]
    gold = [labels.index(str(item.encoded.example.label)) for item in labeled]
    temperature = fit_temperature(np.array(rows), np.array(gold))
    scores = score_confidence(list_sure_labels(labeled, ConfidenceRule(temperature)))
    if scores is None:
        return None, None
    if scores.ece_calibrated >= scores.ece:
        temperature, scores = 1.0, replace(scores, ece_calibrated=scores.ece)
    record = ConfidenceRecord(
        temperature=temperature, n=len(labeled), ece=scores.ece, ece_calibrated=scores.ece_calibrated
    )
    return record, scores
