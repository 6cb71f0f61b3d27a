"""Predict the label from suspected phrases alone, and from all words, always on held-out folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_result import Accuracy
from rationalize.evaluation.bag_of_words import fit_classifier, make_vectorizer
from rationalize.shortcuts.association import associate
from rationalize.shortcuts.incidence import find_incidence
from rationalize.shortcuts.phrase_rules import is_associated, is_fixed
from rationalize.shortcuts.phrase_search import PhraseSearch
from rationalize.shortcuts.phrases import Floats, Ints
from rationalize.text.words import WordRule, split_words
from rationalize.types import Example


def assign_folds(seeds: Ints, labels: Ints, folds: int) -> Ints:
    """Assign each document to a fold; labels are spread evenly, and equal texts share a fold.

    `seeds` has a number for every document, which is that of its text.
    """
    texts, firsts, inverse = np.unique(seeds, return_index=True, return_inverse=True)
    order = np.lexsort((texts, labels[firsts]))
    found = np.empty(len(texts), dtype=np.int64)
    found[order] = np.arange(len(texts)) % folds
    return found[inverse.ravel()]


def choose_probe(seeds: Ints, most: int) -> Ints:
    """Choose the documents that the label is predicted on: all, or a sample of at most so many."""
    if len(seeds) <= most:
        return np.arange(len(seeds))
    return np.sort(np.argsort(seeds, kind="stable")[:most])


def has_enough_labels(labels: Ints, folds: Ints) -> bool:
    """Return whether two labels remain to learn from, whichever fold is held out."""
    return all(len(np.unique(labels[folds != fold])) > 1 for fold in np.unique(folds))


class WordReader:
    """Logistic regressions on words and pairs of words: one per fold, trained without that fold.

    Args:
        documents: The words of the documents to learn from.
        rows: The indexes of these documents.
        labels: Index of the label of every document.
        folds: The fold of every document.
        rule: The definition of a word.
    """

    def __init__(
        self, documents: Sequence[Sequence[str]], rows: Ints, labels: Ints, folds: Ints, rule: WordRule
    ) -> None:
        self.rows, self.folds = rows, folds
        self.rule: WordRule = rule
        self.n_labels = int(labels.max()) + 1
        # The vectorizer sees every text, but no label.
        self.vectorizer = make_vectorizer(min_df=2)
        self.features = self.vectorizer.fit_transform(documents)
        own, known = folds[rows], labels[rows]
        self.models = {
            int(fold): fit_classifier(self.features[own != fold], known[own != fold])
            for fold in np.unique(own)
        }

    def __call__(self, examples: Sequence[Example], documents: Ints) -> Floats:
        """Return label probabilities; `documents` has the index of each example's original document."""
        features = self.vectorizer.transform([split_words(example.text, self.rule) for example in examples])
        return self._read(features, self.folds[documents])

    def read_unchanged(self) -> Floats:
        """Return label probabilities of the documents that it learned from, unchanged."""
        return self._read(self.features, self.folds[self.rows])

    def _read(self, features: Any, folds: Ints) -> Floats:
        found = np.zeros((features.shape[0], self.n_labels))
        for fold, model in self.models.items():
            rows = np.flatnonzero(folds == fold)
            if len(rows):
                found[np.ix_(rows, model.classes_)] = model.predict_proba(features[rows])
        return found


def measure_accuracy(
    phrases: PhraseSearch, labels: Ints, reader: WordReader | None, config: AuditConfig
) -> Accuracy:
    """Measure the accuracy of the commonest label, of suspected phrases alone, and of all words."""
    majority = float(np.bincount(labels).max() / len(labels))
    if reader is None:
        return Accuracy(majority, None, None)
    known, folds = labels[reader.rows], reader.folds[reader.rows]
    from_phrases = predict_from_phrases(phrases, reader.rows, known, folds, config)
    from_words = reader.read_unchanged().argmax(1)
    return Accuracy(majority, float((from_phrases == known).mean()), float((from_words == known).mean()))


def predict_from_phrases(
    phrases: PhraseSearch, rows: Ints, labels: Ints, folds: Ints, config: AuditConfig
) -> Ints:
    """Predict the label of some documents from the phrases that are suspect in the other folds."""
    guesses = np.zeros(len(labels), dtype=np.int64)
    steady = is_fixed(phrases.candidates, config)
    found = find_incidence(phrases.corpus, phrases.table, phrases.candidates, rows)
    one_hot = np.eye(int(labels.max()) + 1, dtype=np.int64)[labels]
    for fold in np.unique(folds):
        others = np.flatnonzero(folds != fold)
        outside, anywhere = (np.asarray(each[others].T @ one_hot[others]) for each in found)
        leaning = associate(outside, one_hot[others].sum(0), anywhere)
        chosen = np.flatnonzero(steady & is_associated(leaning, config))
        features = found.outside[:, chosen]
        guesses[folds == fold] = _fit(features[others], labels[others], features[folds == fold])
    return guesses


def _fit(features: Any, labels: Ints, others: Any) -> Ints:
    from sklearn.linear_model import LogisticRegression

    if not features.shape[1]:
        return np.full(others.shape[0], np.bincount(labels).argmax())
    guesses: Ints = LogisticRegression(max_iter=300).fit(features, labels).predict(others)
    return guesses
