"""Any number of short labeled texts: sentences of the planted corpus, one word of each text changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from rationalize.data.planted import make_corpus
from rationalize.files import json_line
from rationalize.types import Example

DOCUMENTS = 2_000
"""Planted documents whose sentences are used again and again."""
SENTENCES = 2
RARE_WORDS = 200_000
SOURCES = ("web", "mail", "paper", "forum")


def make_texts(n: int, seed: int = 0) -> Iterator[Example]:
    """Yield n texts of about 25 words, each with an id, a label and a column; no two are alike, nearly.

    Both sentences come from one document, so a text has its document's shortcut or evidence by chance.
    """
    chance = random.Random(seed)
    documents = [
        (example.text.split("\n"), str(example.label))
        for example in make_corpus(sizes={"train": DOCUMENTS}).split("train")
    ]
    for number in range(n):
        lines, label = documents[number % len(documents)]
        words = " ".join(chance.sample(lines, min(SENTENCES, len(lines)))).split(" ")
        words[chance.randrange(len(words))] = f"word{chance.randrange(RARE_WORDS)}"
        yield Example(f"t{number}", " ".join(words), label, metadata={"source": chance.choice(SOURCES)})


def write_texts(path: Path, n: int) -> Path:
    """Write n texts as JSON Lines."""
    with path.open("w", encoding="utf-8") as file:
        for each in make_texts(n):
            row = {"id": each.id, "text": each.text, "label": each.label, **each.metadata}
            file.write(json_line(row))
    return path
