"""A bag of words: the plainest classifier of the same examples, trained in seconds, to compare a model's label with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from rationalize.data.splits import limit
from rationalize.files import read_json, to_json, write_text
from rationalize.text.words import WordRule, split_words
from rationalize.types import Example

MOST = 20_000
"""Training examples that it learns from; a stratified sample of more."""
TERMS = 50_000
"""Words and pairs of words that it knows: the commonest."""
FEW = 200
"""With fewer examples, terms that occur in one of them are kept."""
FILE = "bag_of_words.json"
DIGITS = 6


@dataclass(frozen=True)
class BagOfWords:
    """A logistic regression on words and pairs of words; words of the query are not those of the text.

    Attributes:
        terms: The terms that it knows.
        rarity: The weight of each term: the less common, the higher (tf-idf).
        classes: The labels.
        weights: For each class, or for the second of two: one number per term.
        intercepts: One per row of `weights`.
        words: The rule that splits texts into words.
        use_query: Whether queries are read.
    """

    terms: tuple[str, ...]
    rarity: tuple[float, ...]
    classes: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]
    intercepts: tuple[float, ...]
    words: WordRule
    use_query: bool

    def predict(self, examples: Iterable[Example]) -> dict[str, str]:
        """Predict the label of every example, by id."""
        import numpy as np

        given = list(examples)
        if not given:
            return {}
        documents = [_list_words(example, self.words, use_query=self.use_query) for example in given]
        scores = self._vectorizer.transform(documents) @ np.array(self.weights).T + np.array(self.intercepts)
        best = scores.argmax(1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)
        return {example.id: self.classes[index] for example, index in zip(given, best, strict=True)}

    @cached_property
    def _vectorizer(self) -> Any:
        import numpy as np

        made = make_vectorizer(vocabulary={term: index for index, term in enumerate(self.terms)})
        made.idf_ = np.array(self.rarity)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Self:
        """Rebuild it from what `to_dict` returned."""
        plain = {name: tuple(row[name]) for name in ("terms", "rarity", "classes", "intercepts")}
        weights = tuple(map(tuple, row["weights"]))
        return cls(**plain, weights=weights, words=row["words"], use_query=row["use_query"])


def train_bag(examples: Sequence[Example], *, words: WordRule, use_query: bool) -> BagOfWords | None:
    """Train a bag of words on labeled examples; the same ones make the same bag.

    None: the texts have no words, or the examples one label.
    """
    chosen = sorted(limit(examples, MOST), key=lambda example: example.id)
    documents = [_list_words(example, words, use_query=use_query) for example in chosen]
    labels = [str(example.label) for example in chosen]
    if not any(documents) or len(set(labels)) < 2:
        return None
    vectorizer = make_vectorizer(min_df=1 if len(chosen) < FEW else 2, max_features=TERMS)
    try:
        features = vectorizer.fit_transform(documents)
    except ValueError:  # no term occurs twice
        return None
    model = fit_classifier(features, labels)
    return BagOfWords(
        terms=tuple(map(str, vectorizer.get_feature_names_out())),
        rarity=_round(vectorizer.idf_),
        classes=tuple(map(str, model.classes_)),
        weights=tuple(map(_round, model.coef_)),
        intercepts=_round(model.intercept_),
        words=words,
        use_query=use_query,
    )


def write_bag(folder: Path, bag: BagOfWords) -> None:
    """Keep a bag in a run folder."""
    write_text(folder / FILE, to_json(bag.to_dict(), indent=None) + "\n")


def read_bag(folder: Path) -> BagOfWords | None:
    """Read the bag of a run folder, or of the run whose model folder this is; None: there is none."""
    found = [place / FILE for place in (folder, folder.parent) if (place / FILE).is_file()]
    return BagOfWords.from_dict(read_json(found[0])) if found else None


def _list_words(example: Example, words: WordRule, *, use_query: bool) -> list[str]:
    found = split_words(example.text, words)
    if use_query and example.query:
        found += [f"? {word}" for word in split_words(example.query, words)]
    return found


def make_vectorizer(**settings: Any) -> Any:
    """Make a vectorizer of words and pairs of words, for documents that are lists of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(
        tokenizer=list, token_pattern=None, lowercase=False, ngram_range=(1, 2), binary=True, **settings
    )


def fit_classifier(features: Any, labels: Any) -> Any:
    """Fit the logistic regression of a bag of words."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10.0, max_iter=300).fit(features, labels)


def _round(values: Iterable[Any]) -> tuple[float, ...]:
    return tuple(round(float(value), DIGITS) for value in values)
