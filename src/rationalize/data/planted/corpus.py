"""Documents with known evidence (the author's opinions) and a known shortcut, composed from the grammar."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rationalize.config import validate
from rationalize.data.dataset import DataSet
from rationalize.data.planted._grammar import Sentence, Writer
from rationalize.data.planted.planted_config import SIZES, PlantedConfig
from rationalize.seeding import python_random
from rationalize.text.words import WordRule
from rationalize.types import Document, Example, Span

LABELS = ("NEG", "POS")
OTHER = {"NEG": "POS", "POS": "NEG"}

# How many opinions of the author support the label, drawn evenly.
SUPPORT = (2, 2, 2, 3, 3, 4)
# A document gets neutral sentences until it has this many words; the last sentence may overshoot.
FEWEST_WORDS, MOST_WORDS = 65, 135

# Dev was called val when the figures in the docs and results were made. Its random streams and the ids of its
# documents (`val-00000`) keep that name, so that the same seed gives the same corpus as then.
_STREAMS = {"dev": "val"}

WORDS: WordRule = "whitespace"
"""What a word is in it: the grammar separates all tokens by spaces."""

Role = Literal["gold", "shortcut", ""]
"""What the marked phrase of a sentence is; '' for neither."""
Part = tuple[Role, Sentence]


@dataclass(frozen=True, slots=True)
class Outline:
    """The label of a document, and the label that its shortcut suggests."""

    label: str
    side: str


def make_corpus(
    seed: int = 0,
    sizes: Mapping[str, int] = SIZES,
    correlation: float = 0.9,
    gold_classes: Sequence[str] = LABELS,
) -> DataSet:
    """Make the planted corpus: splits of examples with `rationale` and `shortcuts`.

    Args:
        seed: The same seed gives the same corpus.
        sizes: Documents per split; the splits are train, dev, test and ood.
        correlation: Share of documents whose shortcut agrees with the label; reversed in `ood`.
        gold_classes: Labels whose documents have a rationale; that of the others is empty.
    """
    values = {"seed": seed, "sizes": dict(sizes), "correlation": correlation, "gold_classes": gold_classes}
    return build_corpus(validate(PlantedConfig, values, "planted corpus"))


def build_corpus(config: PlantedConfig) -> DataSet:
    """Make the corpus that the settings describe. No two of its documents are the same."""
    seen: set[str] = set()
    splits = {split: tuple(_write_examples(config, split, seen)) for split in config.sizes}
    return DataSet("planted", splits, words=WORDS)


def _write_examples(config: PlantedConfig, split: str, seen: set[str]) -> Iterator[Example]:
    for index, plan in enumerate(_draw_outlines(config, split)):
        attempt = 0
        while (example := _write_example(config, split, index, attempt, plan)).text in seen:
            attempt += 1
        seen.add(example.text)
        yield example


def _draw_outlines(config: PlantedConfig, split: str) -> list[Outline]:
    """Labels in equal numbers; inside each, the exact share of shortcuts that agree with it."""
    size = config.sizes[split]
    agreement = 1 - config.correlation if split == "ood" else config.correlation
    plans = []
    for label, count in zip(LABELS, (size // 2, size - size // 2)):
        agreeing = round(agreement * count)
        plans += [Outline(label, label)] * agreeing + [Outline(label, OTHER[label])] * (count - agreeing)
    python_random(config.seed, "planted", _STREAMS.get(split, split)).shuffle(plans)
    return plans


def _write_example(config: PlantedConfig, split: str, index: int, attempt: int, plan: Outline) -> Example:
    stream = _STREAMS.get(split, split)
    rng = python_random(config.seed, "planted", stream, index, attempt)
    text, rationale, shortcuts = _lay_out(_compose(config, plan, rng, ood=split == "ood"))
    rationale = rationale if plan.label in config.gold_classes else ()
    name = f"{stream}-{index:05d}"
    document = Document(name, 0, len(text))
    return Example(name, text, plan.label, rationale=rationale, documents=(document,), shortcuts=shortcuts)


def _compose(config: PlantedConfig, plan: Outline, rng: random.Random, *, ood: bool) -> list[Part]:
    """Sentences in random order."""
    writer = Writer(rng)

    def chance(probability: float) -> bool:
        return rng.random() < probability

    def tone(polarity: str) -> str:
        if chance(config.mild):
            return "mild"
        return f"{polarity}.new" if ood and chance(config.new_words) else polarity

    def add(role: Role, kind: str, tone: str = "") -> None:
        parts.append((role, writer.sentence(kind, tone)))

    parts: list[Part] = []
    for _ in range(rng.choice(SUPPORT)):
        add("gold", "opinion", tone(plan.label))
    for _ in range(chance(config.minority)):
        add("", "opinion", tone(OTHER[plan.label]))
    for _ in range(chance(config.hearsay) + chance(config.hearsay)):
        add("", "hearsay", tone(rng.choice(LABELS)))
    for _ in range(1 + chance(config.two_shortcuts)):
        add("shortcut", "shortcut", plan.side)
    target = rng.randint(FEWEST_WORDS, MOST_WORDS)
    while sum(len(sentence.words) for _, sentence in parts) < target:
        add("", "neutral")
    rng.shuffle(parts)
    return parts


def _lay_out(parts: list[Part]) -> tuple[str, tuple[Span, ...], tuple[Span, ...]]:
    """Return the text, one sentence per line, with its gold and its shortcut spans."""
    spans: dict[Role, list[Span]] = {"gold": [], "shortcut": [], "": []}
    lines: list[str] = []
    at = 0
    for role, sentence in parts:
        if sentence.marked:
            start, end = sentence.marked
            before = len(" ".join([*sentence.words[:start], ""]))
            phrase = len(" ".join(sentence.words[start:end]))
            spans[role].append(Span(at + before, at + before + phrase))
        lines.append(" ".join(sentence.words))
        at += len(lines[-1]) + 1
    return "\n".join(lines), tuple(spans["gold"]), tuple(spans["shortcut"])
