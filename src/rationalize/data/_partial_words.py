"""Gold spans that start or end inside a word: why, and what is done with them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rationalize.data._word_index import WordIndex, index_words
from rationalize.data.findings import Findings
from rationalize.data.held_examples import change_examples
from rationalize.data.read_options import PartialWords
from rationalize.text.words import WordRule
from rationalize.types import Example, Span

SHOWN = 3  # examples of each kind
_AROUND, _INSIDE = 10, 24  # characters shown around a span's borders, and of a span itself

_FATES = {
    "widen": "it is widened to whole words",
    "shrink": "it is shrunk to its whole words",
    "drop": "it is dropped",
}
_KINDS = {
    "offsets count UTF-16 units": "code points; counted so, the span would end at words",
    "offsets count bytes": "code points; counted so, the span would end at words",
    "span is off by one": "whole words; moved by one character, the span would end at words",
    "span cuts letters off a word": "whole words",
    "span cuts a word at punctuation": "whole words",
}


@dataclass(frozen=True, slots=True)
class CutSpan:
    """A span that cuts a word: the probable kind of mistake, its place, and its text."""

    kind: str
    place: str
    shown: str


def fit_to_words(
    splits: Mapping[str, Sequence[Example]], rule: WordRule, how: PartialWords
) -> tuple[dict[str, Sequence[Example]], int]:
    """Shrink or drop gold spans that cut a word; return the examples, and the number of such spans.

    Widening is what scoring does anyway, so spans stay as they were marked. An example that has lost all its spans
    counts as not annotated: nobody has said that nothing in it is evidence.
    """
    if how == "widen":
        return dict(splits), 0
    changed: dict[str, Sequence[Example]] = {}
    cut = 0
    for name, examples in splits.items():
        changed[name] = change_examples(examples, lambda each: fit_example(each, rule, how)[0])
        cut += sum(fit_example(each, rule, how)[1] for each in examples)
    return changed, cut


def fit_example(example: Example, rule: WordRule, how: PartialWords) -> tuple[Example, int]:
    """Shrink or drop the gold spans of an example that cut a word; return it, and the number of such spans."""
    spans = example.rationale or ()
    words = index_words(example.text, rule) if spans and how != "widen" else None
    broken = {span for span in spans if words and cuts_word(words, span)}
    return (_fit(example, words, broken, how) if words and broken else example), len(broken)


def _fit(example: Example, words: WordIndex, broken: set[Span], how: PartialWords) -> Example:
    kept = []
    for span in example.rationale or ():
        if span not in broken:
            kept.append(span)
        elif how == "shrink" and (inside := words.inside(span.start, span.end)):
            kept.append(Span(words.starts[inside[0]], words.ends[inside[-1]], span.group))
    return replace(example, rationale=tuple(kept) or None)


def cuts_word(words: WordIndex, span: Span) -> bool:
    """Return whether the span starts or ends inside a word."""
    return words.is_inside(span.start) or words.is_inside(span.end)


def find_cut_spans(place: str, example: Example, rule: WordRule) -> list[CutSpan]:
    """List the gold spans of an example that cut a word."""
    spans = example.rationale or ()
    words = index_words(example.text, rule) if spans else None
    if words is None:
        return []
    found = (span for span in spans if cuts_word(words, span))
    return [CutSpan(_classify(example.text, words, span), place, _show(example.text, span)) for span in found]


def report_cut_spans(cut: Iterable[CutSpan], findings: Findings, field: str, how: PartialWords) -> None:
    """Add one warning for each kind, with some examples and what happens to such spans."""
    counts: Counter[str] = Counter()
    first: dict[str, list[CutSpan]] = defaultdict(list)
    for each in cut:
        counts[each.kind] += 1
        if len(first[each.kind]) < SHOWN:
            first[each.kind].append(each)
    for kind, expected in _KINDS.items():
        if own := first[kind]:
            shown = "; ".join(f"{each.shown} ({_shorten_place(each.place)})" for each in own)
            findings.warning_of_many(
                kind,
                own[0].place,
                field=field,
                times=counts[kind],
                seen=f"{counts[kind]} × such as {shown}",
                expected=f"{expected}. As it stands, {_FATES[how]} (partial_words: {how})",
            )


def _shorten_place(place: str) -> str:
    return place.replace("\\", "/").rpartition("/")[2]


def _classify(text: str, words: WordIndex, span: Span) -> str:
    """Return the first explanation that would repair the span, else what it cuts."""
    for kind, encoding, unit in (
        ("offsets count UTF-16 units", "utf-16-le", 2),
        ("offsets count bytes", "utf-8", 1),
    ):
        if _is_mended(words, _recount(text, span, encoding, unit), span):
            return kind
    if any(_is_mended(words, Span(span.start + by, span.end + by), span) for by in (-1, 1)):
        return "span is off by one"
    borders = (at for at in (span.start, span.end) if words.is_inside(at))
    if any(text[at - 1].isalnum() and text[at].isalnum() for at in borders):
        return "span cuts letters off a word"
    return "span cuts a word at punctuation"


def _recount(text: str, span: Span, encoding: str, unit: int) -> Span:
    """Return the span in code points, if its offsets count units of an encoding."""
    encoded = text.encode(encoding, "surrogatepass")

    def at(offset: int) -> int:
        return len(encoded[: offset * unit].decode(encoding, "ignore"))

    return Span(at(span.start), at(span.end))


def _is_mended(words: WordIndex, other: Span, span: Span) -> bool:
    """Return whether another span begins and ends exactly where words do."""
    if (other.start, other.end) == (span.start, span.end) or other.start >= other.end:
        return False
    return words.starts_at(other.start) and words.ends_at(other.end)


def _show(text: str, span: Span) -> str:
    inside = text[span.start : span.end]
    if len(inside) > 2 * _INSIDE:
        inside = f"{inside[:_INSIDE]}…{inside[-_INSIDE:]}"
    before, after = text[max(0, span.start - _AROUND) : span.start], text[span.end : span.end + _AROUND]
    return repr(f"{before}[{inside}]{after}")
