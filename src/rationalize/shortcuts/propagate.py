"""Carry discovered phrases over to texts without annotation: the same words, wherever they occur.

A phrase is all words of a discovered shortcut, normalized. It is carried over if it was found in enough annotated
examples, and if no annotator ever marked any of it: evidence is not a shortcut.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rationalize.text.words import WordRule, find_words_in, mask_spans, split_words, word_mask, word_spans
from rationalize.types import Example, Span

Phrase = tuple[str, ...]


class PhraseBook:
    """Phrases to look up in texts, with the same rule for words."""

    def __init__(self, phrases: Iterable[Phrase], rule: WordRule) -> None:
        self.rule: WordRule = rule
        self.phrases = tuple(sorted(set(phrases)))
        self._by_first: dict[str, list[Phrase]] = defaultdict(list)
        for phrase in self.phrases:
            self._by_first[phrase[0]].append(phrase)

    def find_places(self, words: Sequence[str]) -> Iterator[tuple[Phrase, range]]:
        """Yield every occurrence of a phrase among the words; occurrences may overlap."""
        for start, word in enumerate(words):
            for phrase in self._by_first.get(word, ()):
                if tuple(words[start : start + len(phrase)]) == phrase:
                    yield phrase, range(start, start + len(phrase))

    def mark(self, text: str) -> list[bool]:
        """Mark the words of a text that are part of a phrase."""
        words = split_words(text, self.rule)
        mask = [False] * len(words)
        for _, place in self.find_places(words):
            for index in place:
                mask[index] = True
        return mask

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the spans of phrases in a text; those that overlap or touch become one."""
        return mask_spans(word_spans(text, self.rule), self.mark(text))


def list_phrases(example: Example, rule: WordRule) -> list[tuple[Phrase, range]]:
    """Return the shortcuts of an example as phrases, with the indexes of their words."""
    spans, words = word_spans(example.text, rule), split_words(example.text, rule)
    places = [find_words_in(spans, span) for span in example.shortcuts or ()]
    return [(tuple(words[place.start : place.stop]), place) for place in places if place]


def phrases_to_carry(gold: Sequence[Example], least: int, rule: WordRule) -> PhraseBook:
    """Collect the phrases found in at least `least` annotated examples that never share a word with gold."""
    found_in: dict[Phrase, set[str]] = defaultdict(set)
    for example in gold:
        for phrase, _ in list_phrases(example, rule):
            found_in[phrase].add(example.id)
    often = PhraseBook((phrase for phrase, ids in found_in.items() if len(ids) >= least), rule)
    return PhraseBook(set(often.phrases) - _find_marked(gold, often), rule)


def _find_marked(gold: Sequence[Example], book: PhraseBook) -> set[Phrase]:
    """Find the phrases that touch the gold rationale of any example."""
    marked = set()
    for example in gold:
        mask = word_mask(word_spans(example.text, book.rule), example.rationale or ())
        for phrase, place in book.find_places(split_words(example.text, book.rule)):
            if any(mask[place.start : place.stop]):
                marked.add(phrase)
    return marked
