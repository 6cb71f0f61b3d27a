"""Discovered phrases carried over to texts that nobody annotated: the same words, wherever they stand.

A phrase is all words of a discovered shortcut, as `normal` spells them. It is carried over if it was found in
enough annotated examples, and if no annotator ever marked any of it: what is evidence somewhere is no shortcut.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rationalize.text.words import WordRule, find_words_in, mask_spans, split_words, word_mask, word_spans
from rationalize.types import Example, Span

Phrase = tuple[str, ...]


class PhraseBook:
    """Phrases, to be looked up in texts whose words are cut by the same rule."""

    def __init__(self, phrases: Iterable[Phrase], rule: WordRule) -> None:
        self.rule: WordRule = rule
        self.phrases = tuple(sorted(set(phrases)))
        self._by_first: dict[str, list[Phrase]] = defaultdict(list)
        for phrase in self.phrases:
            self._by_first[phrase[0]].append(phrase)

    def places(self, words: Sequence[str]) -> Iterator[tuple[Phrase, range]]:
        """Every occurrence of a phrase among the words; occurrences may overlap."""
        for start, word in enumerate(words):
            for phrase in self._by_first.get(word, ()):
                if tuple(words[start : start + len(phrase)]) == phrase:
                    yield phrase, range(start, start + len(phrase))

    def mark(self, text: str) -> list[bool]:
        """For each word of a text, whether it is part of a phrase."""
        words = split_words(text, self.rule)
        mask = [False] * len(words)
        for _, place in self.places(words):
            for index in place:
                mask[index] = True
        return mask

    def spans(self, text: str) -> tuple[Span, ...]:
        """Where phrases stand in a text; those that overlap or follow each other are one span."""
        return mask_spans(word_spans(text, self.rule), self.mark(text))


def phrases_of(example: Example, rule: WordRule) -> list[tuple[Phrase, range]]:
    """The shortcuts of an example as phrases, with the indexes of their words."""
    spans, words = word_spans(example.text, rule), split_words(example.text, rule)
    places = [find_words_in(spans, span) for span in example.shortcuts or ()]
    return [(tuple(words[place.start : place.stop]), place) for place in places if place]


def phrases_to_carry(gold: Sequence[Example], least: int, rule: WordRule) -> PhraseBook:
    """The phrases that were found in at least `least` annotated examples, and never share a word with gold."""
    found_in: dict[Phrase, set[str]] = defaultdict(set)
    for example in gold:
        for phrase, _ in phrases_of(example, rule):
            found_in[phrase].add(example.id)
    often = PhraseBook((phrase for phrase, ids in found_in.items() if len(ids) >= least), rule)
    return PhraseBook(set(often.phrases) - _marked_by_people(gold, often), rule)


def _marked_by_people(gold: Sequence[Example], book: PhraseBook) -> set[Phrase]:
    """The phrases that touch the gold rationale of any example."""
    marked = set()
    for example in gold:
        mask = word_mask(word_spans(example.text, book.rule), example.rationale or ())
        for phrase, place in book.places(split_words(example.text, book.rule)):
            if any(mask[place.start : place.stop]):
                marked.add(phrase)
    return marked
