"""Task F1 of a bag of words: how much of a label needs no encoder, no order of words, or no text at all.

python -m benchmarks.bag_of_words data/movies.tar.gz --words 200
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from rationalize.data.source import load
from rationalize.metrics.classification import task_f1_weighted
from rationalize.types import Example


def main() -> None:
    """Print the score of the texts, and of the queries where there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="a folder, archive or file with the splits train and test")
    parser.add_argument("--words", type=int, help="read only so many words of a text, from its start")
    chosen = parser.parse_args()
    splits = load(chosen.data).splits
    read: dict[str, Callable[[Example], str]] = {
        "text": lambda example: " ".join(example.text.split()[: chosen.words]),
        "query": lambda example: example.query or "",
    }
    if not any(example.query for example in splits["train"]):
        del read["query"]
    for name, reader in read.items():
        print(f"{name}: {100 * task_f1(splits['train'], splits['test'], reader):.1f}")


def task_f1(train: tuple[Example, ...], test: tuple[Example, ...], read: Callable[[Example], str]) -> float:
    """Weighted F1 on test of logistic regression on words and pairs of words; nothing is tuned."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(C=10, max_iter=2000)
    )
    model.fit([read(each) for each in train], [str(each.label) for each in train])
    labels = [str(each) for each in model.predict([read(each) for each in test])]
    return task_f1_weighted([str(each.label) for each in test], labels) or 0.0


if __name__ == "__main__":
    main()
