"""From offsets as a tool counts them to spans in code points, with the file's own evidence.

For each mark that could be meant in two ways, what decides is, in this order: what the options or the file state,
the text that the file repeats beside the offsets, the end of the text and of its characters, the borders of words,
what most other marks of the file turned out to count, what the tool usually counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rationalize.data.annotation._offsets import COUNTINGS, Meaning, Utf16, find_meanings
from rationalize.data.annotation._tasks import AnnotatedText, Answer, Mark
from rationalize.data.annotation.import_options import Counting, ImportOptions
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.text.words import PLAIN, word_spans
from rationalize.types import Span

Named = tuple[str, Span]
"""A span with its label."""
Weighed = tuple[Answer, list[tuple[Mark, list[Meaning]]] | None]
"""An answer with what each of its marks may mean."""


@dataclass(frozen=True, slots=True)
class SettledAnswer:
    """A person's answer, its marks in code points."""

    annotator: str
    label: str | None
    spans: tuple[Named, ...] | None


class OffsetJudge:
    """Finds out what the offsets of one file count. First see every text, then settle each."""

    def __init__(self, options: ImportOptions, habit: Counting, findings: Findings) -> None:
        self.converted = 0
        self._options = options
        self._habit = habit
        self._findings = findings
        self._certain: Counter[Counting] = Counter()
        self._likely: Counter[Counting] = Counter()

    def settle_all(self, texts: Iterable[AnnotatedText]) -> list[tuple[AnnotatedText, list[SettledAnswer]]]:
        """Return the texts with everyone's spans; report a text with a mark that fits nowhere."""
        seen = [(text, list(self._weigh_all(text))) for text in texts]
        return [(text, [self._settle(*each) for each in weighed]) for text, weighed in seen]

    def _weigh_all(self, text: AnnotatedText) -> Iterator[Weighed]:
        units, edges = Utf16(text.text), WordEdges(text.text)
        for answer in text.answers:
            yield answer, None if answer.marks is None else list(self._weigh(text.text, units, edges, answer))

    def _weigh(
        self, text: str, units: Utf16, edges: WordEdges, answer: Answer
    ) -> Iterator[tuple[Mark, list[Meaning]]]:
        for mark in answer.marks or ():
            meanings = self._find(text, units, answer, mark)
            if len(meanings) == 1:
                self._note_evidence(units, meanings[0])
            elif len(meanings) == 2 and not mark.quote:
                meanings = [each for each in meanings if edges.fit(each)] or meanings
                if len(meanings) == 1:
                    self._likely[meanings[0].counting] += 1
                    self._findings.note("spans whose offsets were settled by the borders of words")
            if meanings:
                yield mark, meanings

    def _note_evidence(self, units: Utf16, meaning: Meaning) -> None:
        # Where nothing wide stands before the end of the mark, both ways agree and nothing is learned.
        if units.from_code_points(meaning.end) != meaning.end:
            self._certain[meaning.counting] += 1

    def _find(self, text: str, units: Utf16, answer: Answer, mark: Mark) -> list[Meaning]:
        start, end = mark.start, mark.end
        if not _check_numbers(answer.row, mark) or not isinstance(start, int) or not isinstance(end, int):
            return []
        stated = answer.counting if self._options.offsets == "auto" else self._options.offsets
        allowed: tuple[Counting, ...] = (stated,) if stated else COUNTINGS
        meanings = find_meanings(text, units, mark, start, end, allowed)
        if not meanings:
            _refuse(answer.row, text, units, mark, start, end)
        return meanings

    def _settle(self, answer: Answer, weighed: list[tuple[Mark, list[Meaning]]] | None) -> SettledAnswer:
        if weighed is None:
            return SettledAnswer(answer.annotator, answer.label, None)
        spans = []
        for mark, meanings in weighed:
            meaning = meanings[0] if len(meanings) == 1 else self._choose(answer.row, mark, meanings)
            self.converted += (mark.start, mark.end) != (meaning.start, meaning.end)
            spans.append((mark.name, Span(meaning.start, meaning.end)))
        return SettledAnswer(answer.annotator, answer.label, tuple(spans))

    def _choose(self, row: FileRow, mark: Mark, meanings: list[Meaning]) -> Meaning:
        evidence = self._certain or self._likely
        counting = evidence.most_common(1)[0][0] if evidence else self._habit
        if not evidence:
            expected = "offsets that can be meant in one way only; state what they count in `offsets`"
            seen = f"{shorten(mark.start)}, {shorten(mark.end)}, read as {counting}"
            row.warning("offsets can be meant in two ways", mark.field, seen=seen, expected=expected)
        return next(meaning for meaning in meanings if meaning.counting == counting)


class WordEdges:
    """The starts and ends of words in a text, found on first use."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._edges: tuple[set[int], set[int]] | None = None

    def fit(self, meaning: Meaning) -> bool:
        """Return whether the span starts with a word and ends with one."""
        if self._edges is None:
            words = word_spans(self._text, PLAIN)
            self._edges = {word.start for word in words}, {word.end for word in words}
        return meaning.start in self._edges[0] and meaning.end in self._edges[1]


def _check_numbers(row: FileRow, mark: Mark) -> bool:
    start, end = mark.start, mark.end
    seen = f"{shorten(start)}, {shorten(end)}"
    if type(start) is not int or type(end) is not int:
        row.error(
            "offset is not an integer", mark.field, seen=seen, expected="start and end as whole numbers"
        )
    elif start < 0 or end < 0:
        row.error("negative offset", mark.field, seen=seen, expected="0 or more")
    elif start > end:
        row.error("start after end", mark.field, seen=seen, expected="start < end, end-exclusive")
    elif start == end:
        row.warning("zero-length span", mark.field, seen=seen, expected="start < end; the span is left out")
    else:
        return True
    return False


def _refuse(row: FileRow, text: str, units: Utf16, mark: Mark, start: int, end: int) -> None:
    length, wide = len(text), units.length
    size = f"{length} characters" + (f" ({wide} UTF-16 units)" if wide != length else "")
    if end > wide:
        row.error("offset outside the text", mark.field, seen=f"{start}, {end}", expected=f"0 to {size}")
        return
    seen = f"{start}, {end} beside {shorten(mark.quote)}" if mark.quote else f"{start}, {end}"
    there = f"there stands {shorten(text[start:end])}" if end <= length else f"the text has {size}"
    expected = f"offsets of that text, in characters or in UTF-16 units; {there}"
    row.error("offsets do not fit the text", mark.field, seen=seen, expected=expected)
