"""Which phrases correlate with which label, corrected for the number of tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rationalize.audit._phrases import Floats, Ints
from rationalize.metrics.significance import holm


@dataclass(frozen=True)
class Association:
    """For each phrase, its most significant label. All arrays have one entry per phrase.

    Attributes:
        labels: Index of the label.
        documents: Number of documents with the phrase.
        together: Number of them that have the label.
        shares: The label's share of the documents with the phrase.
        base: The label's share of all documents.
        p_values: Two-sided, by the hypergeometric test (Fisher's exact test, the smaller tail doubled).
        adjusted: The same after Holm's correction over all phrases and labels.
    """

    labels: Ints
    documents: Ints
    together: Ints
    shares: Floats
    base: Floats
    p_values: Floats
    adjusted: Floats

    @property
    def lift(self) -> Floats:
        """How many times as frequent the label is with the phrase."""
        return self.shares / self.base

    @property
    def difference(self) -> Floats:
        """The label's share with the phrase minus its share of all documents."""
        return self.shares - self.base


def associate(together: Ints, labels: Ints) -> Association:
    """Test every phrase with every label against the rest.

    Args:
        together: Documents with the phrase, by phrase and label (phrases, labels).
        labels: Documents of each label (labels,).
    """
    documents = together.sum(1)
    p_values = two_sided_p(together, documents[:, None], labels[None, :], int(labels.sum()))
    # With two labels, one against the rest is the same test twice.
    adjusted = holm(p_values[:, :1]) if len(labels) == 2 else holm(p_values)
    base = labels / labels.sum()
    difference = together / np.maximum(documents, 1)[:, None] - base
    # The label that the phrase makes more likely; a less likely one follows from the others.
    best = np.where(difference > 0, -p_values, -np.inf)
    chosen = np.lexsort((difference, best), axis=1)[:, -1]
    rows = np.arange(len(together))
    return Association(
        labels=chosen,
        documents=documents,
        together=together[rows, chosen],
        shares=together[rows, chosen] / np.maximum(documents, 1),
        base=base[chosen],
        p_values=p_values[rows, chosen],
        adjusted=np.broadcast_to(adjusted, p_values.shape)[rows, chosen],
    )


def two_sided_p(together: Ints, with_phrase: Ints, with_label: Ints, everything: int) -> Floats:
    """Return the probability of a table at least as lopsided, if phrase and label were independent."""
    from scipy.stats import hypergeom

    tables = np.stack([each.ravel() for each in np.broadcast_arrays(together, with_phrase, with_label)])
    # Pieces of one phrase have the same counts, so most tables repeat.
    (both, phrase, label), inverse = np.unique(tables, axis=1, return_inverse=True)
    more = hypergeom.sf(both - 1, everything, label, phrase)
    less = hypergeom.cdf(both, everything, label, phrase)
    p_values: Floats = np.minimum(2 * np.minimum(more, less), 1.0)[inverse.ravel()]
    return p_values.reshape(together.shape)
