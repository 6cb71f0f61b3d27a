"""Evaluate a model on examples: one typed `Evaluation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.evaluation.bag_of_words import BagOfWords as BagOfWords
    from rationalize.evaluation.evaluation import Evaluation as Evaluation
    from rationalize.evaluation.evaluation import FaithfulnessFacts as FaithfulnessFacts
    from rationalize.evaluation.recipe import evaluate_model as evaluate_model
    from rationalize.evaluation.removal import Removal as Removal
    from rationalize.evaluation.transfer import map_labels as map_labels
    from rationalize.evaluation.verdict import Verdict as Verdict
    from rationalize.evaluation.verdict import judge as judge

_HOMES = {
    "BagOfWords": "bag_of_words",
    "Evaluation": "evaluation",
    "FaithfulnessFacts": "evaluation",
    "Removal": "removal",
    "evaluate_model": "recipe",
    "Verdict": "verdict",
    "judge": "verdict",
    "map_labels": "transfer",
}
__all__ = [
    "BagOfWords",
    "Evaluation",
    "FaithfulnessFacts",
    "Removal",
    "Verdict",
    "evaluate_model",
    "judge",
    "map_labels",
]
__getattr__ = open_room(__name__, _HOMES)
