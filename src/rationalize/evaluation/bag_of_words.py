"""A bag of words: the plainest classifier of the same examples, trained in seconds, to compare a model's label with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rationalize.data.splits import limit
from rationalize.text.words import PLAIN, WordRule, split_words
from rationalize.types import Example

MOST = 20_000
"""Training examples that it learns from; a stratified sample of more."""
FEW = 200
"""With fewer examples, words that occur once are kept."""


class BagOfWords:
    """A logistic regression on words and pairs of words; words of the query are told apart from those of the text.

    The same examples make the same classifier: nothing in it is random.

    Args:
        examples: Labeled examples, of at least two labels.
        words: The rule that splits texts into words.
        use_query: Whether queries are read.
    """

    def __init__(
        self, examples: Sequence[Example], *, words: WordRule = PLAIN, use_query: bool = True
    ) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        self.words: WordRule = words
        self.use_query = use_query
        chosen = limit(examples, MOST)
        self._vectorizer = TfidfVectorizer(
            tokenizer=list,
            token_pattern=None,
            lowercase=False,
            ngram_range=(1, 2),
            binary=True,
            min_df=1 if len(chosen) < FEW else 2,
        )
        features = self._vectorizer.fit_transform([self._list_words(example) for example in chosen])
        labels = [str(example.label) for example in chosen]
        self._model = LogisticRegression(C=10.0, max_iter=300).fit(features, labels)

    def predict(self, examples: Iterable[Example]) -> dict[str, str]:
        """Predict the label of every example, by id."""
        given = list(examples)
        if not given:
            return {}
        features = self._vectorizer.transform([self._list_words(example) for example in given])
        labels = self._model.predict(features)
        return {example.id: str(label) for example, label in zip(given, labels, strict=True)}

    def _list_words(self, example: Example) -> list[str]:
        found = [word.casefold() for word in split_words(example.text, self.words)]
        if self.use_query and example.query:
            found += [f"? {word.casefold()}" for word in split_words(example.query, self.words)]
        return found


def train_bag(examples: Sequence[Example], *, words: WordRule, use_query: bool) -> BagOfWords | None:
    """Train a bag of words; None if the texts have no words, or too few in common to learn from."""
    try:
        return BagOfWords(examples, words=words, use_query=use_query)
    except ValueError:  # scikit-learn's: an empty vocabulary
        return None
