"""Small labeled texts with a planted phrase, and how well an audit of the planted corpus did."""

from __future__ import annotations

from dataclasses import replace

from rationalize.data.splits import choose_gold
from rationalize.seeding import python_random
from rationalize.text.words import split_words, word_mask, word_spans
from rationalize.types import Example, Span

NOUNS = ("river", "table", "garden", "engine", "letter", "window", "bottle", "carpet", "island", "ladder")
VERBS = ("holds", "meets", "finds", "keeps", "moves", "sells", "turns", "draws")
OPINIONS = {"POS": ("fine", "bright", "lovely", "superb"), "NEG": ("dull", "bleak", "clumsy", "awful")}


def review(index: int, sentences: dict[str, str], label: str, gold: str | None = None) -> Example:
    """Random sentences and the given ones, shuffled; `gold` names those that are the gold rationale."""
    random = python_random(0, "audit texts", index)
    free = [
        f"the {random.choice(NOUNS)} {random.choice(VERBS)} the {random.choice(NOUNS)} ." for _ in range(4)
    ]
    opinion = f"the {random.choice(NOUNS)} is {random.choice(OPINIONS[label])} ."
    lines = [*free, opinion, *sentences.values()]
    random.shuffle(lines)
    text = "\n".join(lines)
    rationale = None
    if gold is not None:
        start = text.index(sentences[gold])
        rationale = (Span(start, start + len(sentences[gold])),)
    return Example(f"d{index}", text, label, rationale=rationale)


def label_of(index: int) -> str:
    return "POS" if index % 2 else "NEG"


def planted(n: int = 120, **sentences: str) -> list[Example]:
    """Texts in which every POS has the sentence `pos`, every NEG the sentence `neg`, where they are given."""
    keyed = [(index, label_of(index)) for index in range(n)]
    return [
        review(index, {label: sentences[label.lower()]} if label.lower() in sentences else {}, label)
        for index, label in keyed
    ]


def hidden(examples, share: float, seed: int) -> list[Example]:
    """The examples as a user has them: no shortcuts known, gold rationales for a share."""
    kept = set(choose_gold(examples, share, seed))
    return [
        replace(each, shortcuts=None, rationale=each.rationale if each.id in kept else None)
        for each in examples
    ]


def recall(examples, found) -> float:
    """Share of the planted shortcut spans that contain an occurrence, of 3 words or more, of a reported phrase."""
    phrases = [phrase.words.split() for phrase in found.suspected if len(phrase.words.split()) >= 3]
    spans = [split_words(each.text[span.start : span.end]) for each in examples for span in each.shortcuts]
    return sum(any(_starts(words, phrase) for phrase in phrases) for words in spans) / len(spans)


def false_alarms(examples, found) -> float:
    """Share of the reported phrases most of whose occurrences lie outside planted spans."""
    texts = [(split_words(each.text), word_mask(word_spans(each.text), each.shortcuts)) for each in examples]
    wrong = 0
    for phrase in found.suspected:
        own = phrase.words.split()
        inside = [
            all(mask[start : start + len(own)]) for words, mask in texts for start in _starts(words, own)
        ]
        wrong += 2 * sum(inside) <= len(inside)
    return wrong / max(len(found.suspected), 1)


def _starts(words: list[str], phrase: list[str]) -> list[int]:
    return [start for start in range(len(words)) if words[start : start + len(phrase)] == phrase]
