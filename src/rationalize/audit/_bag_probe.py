"""Predict the label from suspected phrases alone, and from all words, always on held-out folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_result import Accuracy
from rationalize.evaluation.bag_of_words import fit_classifier, make_vectorizer
from rationalize.seeding import derive_seed
from rationalize.shortcuts.candidates import Candidates
from rationalize.shortcuts.phrase_rules import find_associations, is_associated, is_fixed
from rationalize.shortcuts.phrases import Floats, Ints
from rationalize.text.words import WordRule, split_words
from rationalize.types import Example


def assign_folds(examples: Sequence[Example], labels: Ints, config: AuditConfig) -> Ints:
    """Assign each document to a fold; labels are spread evenly, and equal texts share a fold."""
    first: dict[str, int] = {}
    for example, label in zip(examples, labels, strict=True):
        first.setdefault(example.text, int(label))
    order = sorted(first, key=lambda text: (first[text], derive_seed(config.seed, "audit fold", text)))
    folds = {text: place % config.folds for place, text in enumerate(order)}
    return np.array([folds[example.text] for example in examples], dtype=np.int64)


def has_enough_labels(labels: Ints, folds: Ints) -> bool:
    """Return whether two labels remain to learn from, whichever fold is held out."""
    return all(len(np.unique(labels[folds != fold])) > 1 for fold in np.unique(folds))


class WordReader:
    """Logistic regressions on words and pairs of words: one per fold, trained without that fold."""

    def __init__(self, documents: Sequence[Sequence[str]], labels: Ints, folds: Ints, rule: WordRule) -> None:
        self.folds = folds
        self.rule: WordRule = rule
        self.n_labels = int(labels.max()) + 1
        # The vectorizer sees every text, but no label.
        self.vectorizer = make_vectorizer(min_df=2)
        self.features = self.vectorizer.fit_transform(documents)
        self.models = {
            int(fold): fit_classifier(self.features[folds != fold], labels[folds != fold])
            for fold in np.unique(folds)
        }

    def __call__(self, examples: Sequence[Example], documents: Ints) -> Floats:
        """Return label probabilities; `documents` has the index of each example's original document."""
        features = self.vectorizer.transform([split_words(example.text, self.rule) for example in examples])
        return self._read(features, self.folds[documents])

    def read_unchanged(self) -> Floats:
        """Return label probabilities of all unchanged documents."""
        return self._read(self.features, self.folds)

    def _read(self, features: Any, folds: Ints) -> Floats:
        found = np.zeros((features.shape[0], self.n_labels))
        for fold, model in self.models.items():
            rows = np.flatnonzero(folds == fold)
            if len(rows):
                found[np.ix_(rows, model.classes_)] = model.predict_proba(features[rows])
        return found


def measure_accuracy(
    candidates: Candidates, labels: Ints, reader: WordReader | None, config: AuditConfig
) -> Accuracy:
    """Measure the accuracy of the commonest label, of suspected phrases alone, and of all words."""
    majority = float(np.bincount(labels).max() / len(labels))
    if reader is None:
        return Accuracy(majority, None, None)
    from_phrases = predict_from_phrases(candidates, labels, reader.folds, config)
    from_words = reader.read_unchanged().argmax(1)
    return Accuracy(majority, float((from_phrases == labels).mean()), float((from_words == labels).mean()))


def predict_from_phrases(candidates: Candidates, labels: Ints, folds: Ints, config: AuditConfig) -> Ints:
    """Predict each document's label from the phrases that are suspect in the other folds."""
    guesses = np.zeros(len(labels), dtype=np.int64)
    steady = is_fixed(candidates, config)
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds != fold)
        chosen = np.flatnonzero(steady & is_associated(find_associations(candidates, labels, rows), config))
        features = candidates.incidence[:, chosen]
        guesses[folds == fold] = _fit(features[rows], labels[rows], features[folds == fold])
    return guesses


def _fit(features: Any, labels: Ints, others: Any) -> Ints:
    from sklearn.linear_model import LogisticRegression

    if not features.shape[1]:
        return np.full(others.shape[0], np.bincount(labels).argmax())
    guesses: Ints = LogisticRegression(max_iter=300).fit(features, labels).predict(others)
    return guesses
