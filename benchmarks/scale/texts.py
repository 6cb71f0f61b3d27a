"""Any number of short labeled texts: sentences of the planted corpus put together anew, one word of each changed."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from rationalize.data.planted import make_corpus
from rationalize.files import json_line
from rationalize.types import Example

DOCUMENTS = 2_000
"""Planted documents whose sentences are used again and again."""
NEUTRAL, OPINION, SHORTCUT = "neutral", "opinion", "shortcut"
WEIGHTS = {NEUTRAL: 5, OPINION: 4, SHORTCUT: 1}
"""How often the second sentence is of each kind; the first is neutral."""
RARE_WORDS = 200_000
SOURCES = ("web", "mail", "paper", "forum")


def make_texts(n: int, seed: int = 0) -> Iterator[Example]:
    """Yield n texts of about 25 words, each with an id, a label and a column; hardly two are alike.

    Neutral sentences go with any label, opinions and shortcuts with that of the document that they come from.
    """
    chance = random.Random(seed)
    sentences = _sort_sentences()
    labels = sorted({label for _, label in sentences if label})
    kinds = chance.choices(list(WEIGHTS), list(WEIGHTS.values()), k=1_000)
    for number in range(n):
        label, kind = chance.choice(labels), kinds[number % len(kinds)]
        own = sentences[kind, label if kind != NEUTRAL else ""]
        words = f"{chance.choice(sentences[NEUTRAL, ''])} {chance.choice(own)}".split(" ")
        words[chance.randrange(len(words))] = f"word{chance.randrange(RARE_WORDS)}"
        yield Example(f"t{number}", " ".join(words), label, metadata={"source": chance.choice(SOURCES)})


def _sort_sentences() -> dict[tuple[str, str], list[str]]:
    """Return the sentences of planted documents by kind, and by label unless they are neutral."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for example in make_corpus(sizes={"train": DOCUMENTS}).split("train"):
        start = 0
        for line in example.text.split("\n"):
            end = start + len(line)
            kind = NEUTRAL
            for other, spans in ((OPINION, example.rationale), (SHORTCUT, example.shortcuts)):
                if any(span.start < end and span.end > start for span in spans or ()):
                    kind = other
            found[kind, "" if kind == NEUTRAL else str(example.label)].append(line)
            start = end + 1
    return found


def write_texts(path: Path, n: int, seed: int = 0) -> Path:
    """Write n texts as JSON Lines."""
    with path.open("w", encoding="utf-8") as file:
        for each in make_texts(n, seed):
            row = {"id": each.id, "text": each.text, "label": each.label, **each.metadata}
            file.write(json_line(row))
    return path
