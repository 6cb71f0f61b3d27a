"""Texts to measure on: real archives where they are, else texts of the planted corpus of about the same lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rationalize.data.jsonl import to_row
from rationalize.data.planted import make_corpus
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.data.splits import limit
from rationalize.files import json_line, write_text
from rationalize.types import Example

KINDS = {"tweets": "short", "imdb": "medium", "movies": "long", "fever": "medium", "multirc": "medium"}
ARCHIVES = {"imdb": "imdb_test"}
WORDS = {"short": 14, "medium": 230, "long": 770}
MAX_TOKENS = {"short": 128, "medium": 512, "long": 512}
"""As many pieces as the preset `auto`, or the encoder, reads at once."""


@dataclass(frozen=True)
class Corpus:
    """Examples of one kind of text.

    Attributes:
        name: What tables call it.
        examples: The texts.
        max_tokens: Pieces of an input.
        archive: Where it was read; None: it is a stand-in.
    """

    name: str
    examples: tuple[Example, ...]
    max_tokens: int
    archive: Path | None


def load_corpus(name: str, data: Path | None, n: int, split: str = "test") -> Corpus:
    """Read `n` examples of a data set, labels represented as in the whole."""
    kind = KINDS[name]
    path = data / f"{ARCHIVES.get(name, name)}.tar.gz" if data else None
    if path is None or not path.is_file():
        return Corpus(f"{name} (planted stand-in)", _stand_in(WORDS[kind], n), MAX_TOKENS[kind], None)
    found = read_data(str(path), ReadOptions(), split).split(split)
    return Corpus(name, limit(found, n), MAX_TOKENS[kind], path)


def write_stand_in(corpus: Corpus, folder: Path) -> Path:
    """Write a stand-in as files to train on, dev being a part of train, and return the folder."""
    for split, examples in {
        "train": corpus.examples,
        "dev": corpus.examples[: len(corpus.examples) // 4],
    }.items():
        rows = (replace(each, id=f"{split}-{each.id}") for each in examples)
        write_text(folder / f"{split}.jsonl", "".join(json_line(to_row(row)) for row in rows))
    return folder


def _stand_in(words: int, n: int) -> tuple[Example, ...]:
    """Cut or repeat planted documents to a length; gold beyond the cut is dropped."""
    documents = make_corpus(sizes={"train": n}).split("train")
    return tuple(_fit(each, words) for each in documents)


def _fit(example: Example, words: int) -> Example:
    own = example.text.split(" ")
    text = " ".join((own * (words // len(own) + 1))[:words])
    kept = tuple(span for span in example.rationale or () if span.end <= len(text))
    return replace(example, text=text, rationale=kept, shortcuts=None, documents=())
