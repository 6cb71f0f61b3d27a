"""Which phrases correlate with which label, corrected for the number of tests.

What lies inside gold rationales is evidence, not a shortcut, and must not count for its label. Left out altogether, it
would count for the others: where only one label has gold, every phrase that is sometimes marked would lean to the
labels without. So a document counts *for* a label if it has the phrase outside gold, and *against* it if it has the
phrase anywhere. Gold then takes evidence from a label and gives none to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rationalize.metrics.significance import holm
from rationalize.shortcuts.phrases import Floats, Ints


@dataclass(frozen=True)
class Leaning:
    """How something leans to a label.

    Attributes:
        label: The label that it correlates with.
        documents: Number of documents with it; of those with the label, only where it is outside gold.
        together: Number of them that have the label.
        share: The label's share of them.
        lift: share / the label's share of all documents.
        p_value: Two-sided hypergeometric test, corrected by Holm's method over all that was tested.
    """

    label: str
    documents: int
    together: int
    share: float
    lift: float
    p_value: float


@dataclass(frozen=True)
class Association:
    """For each phrase, its most significant label. All arrays have one entry per phrase.

    Attributes:
        labels: Index of the label.
        documents: Number of documents with the phrase; of those with the label, only where it is outside gold.
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

    def describe(self, row: int, labels: Sequence[str]) -> Leaning:
        """Return the figures of one phrase as plain values."""
        return Leaning(
            label=labels[self.labels[row]],
            documents=int(self.documents[row]),
            together=int(self.together[row]),
            share=float(self.shares[row]),
            lift=float(self.lift[row]),
            p_value=float(self.adjusted[row]),
        )


def associate(together: Ints, labels: Ints, present: Ints | None = None) -> Association:
    """Test every phrase with every label against the rest.

    Args:
        together: Documents with the phrase outside gold, by phrase and label (phrases, labels).
        labels: Documents of each label (labels,).
        present: Documents with the phrase anywhere, by phrase and label; None: as many.
    """
    present = together if present is None else present
    documents = together + present.sum(1, keepdims=True) - present
    p_values = two_sided_p(together, documents, labels[None, :], int(labels.sum()))
    base = labels / labels.sum()
    difference = together / np.maximum(documents, 1) - base
    # The label that the phrase makes more likely; a less likely one follows from the others.
    best = np.where(difference > 0, -p_values, -np.inf)
    chosen = np.lexsort((difference, best), axis=1)[:, -1]
    rows = np.arange(len(together))
    # With two labels, one against the rest is one test in two directions, of which the p-value is two-sided already.
    speaks = np.where(difference[rows, chosen] > 0, p_values[rows, chosen], 1.0)
    adjusted = holm(speaks) if len(labels) == 2 else holm(p_values)[rows, chosen]
    return Association(
        labels=chosen,
        documents=documents[rows, chosen],
        together=together[rows, chosen],
        shares=together[rows, chosen] / np.maximum(documents[rows, chosen], 1),
        base=base[chosen],
        p_values=p_values[rows, chosen],
        adjusted=adjusted,
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
