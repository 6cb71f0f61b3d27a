"""Text and examples meant to break readers and writers."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import strategies as st

from rationalize.data._eraser_documents import join, tokenize
from rationalize.text.words import has_words
from rationalize.types import Document, Example, Span

PIECES = [
    *("a", "b c", " ", "\n", "\r\n", "\r", "\t", "\v", "\f", "\x00", "\x1c", "\x85", "\u2028", "\ufeff"),
    *(
        "\u00a0",
        "\u3000",
        "é",
        "e\u0301",
        "👩‍👩‍👧",
        "日本語",
        "ไทย",
        '"',
        "\\",
        ",",
        "'",
        "{}",
        "</b>",
        "\ud7ff",
    ),
]
pieces = st.sampled_from(PIECES) | st.text(max_size=5)
any_text = st.lists(pieces, max_size=12).map("".join)
texts = any_text.filter(has_words)
names = any_text.filter(bool)
labels = st.none() | any_text
queries = st.none() | any_text


@st.composite
def spans_in(draw: st.DrawFn, length: int, groups: int = 4) -> tuple[Span, ...] | None:
    pairs = st.tuples(st.integers(0, length), st.integers(0, length), st.integers(0, groups - 1))
    drawn = draw(st.none() | st.lists(pairs, max_size=4))
    if drawn is None:
        return None
    return tuple(Span(min(a, b), max(a, b), group) for a, b, group in drawn if a != b)


@st.composite
def plain_example(draw: st.DrawFn, number: int) -> Example:
    text = draw(texts)
    cut = draw(st.integers(0, len(text)))
    documents = (Document(draw(names), 0, cut), Document(draw(names), cut, len(text)))
    return Example(
        id=f"{number}{draw(any_text)}",
        text=text,
        label=draw(labels),
        query=draw(queries),
        rationale=draw(spans_in(len(text))),
        documents=documents if draw(st.booleans()) else (),
        shortcuts=draw(spans_in(len(text))),
    )


@st.composite
def eraser_example(draw: st.DrawFn, number: int) -> Example:
    """Documents that make up the text, and spans of whole tokens."""
    several = draw(st.booleans())
    bodies = [draw(texts), *(draw(st.lists(any_text, max_size=2)) if several else [])]
    layout = join(tokenize(f"{number}-{index}{draw(any_text)}", body) for index, body in enumerate(bodies))
    return Example(
        id=f"{number}{draw(any_text)}",
        text=layout.text,
        label=draw(labels),
        query=draw(queries),
        rationale=draw(_token_spans(layout)),
        documents=layout.documents if several or draw(st.booleans()) else (),
        shortcuts=draw(_token_spans(layout)),
    )


@st.composite
def _token_spans(draw, layout):  # type: ignore[no-untyped-def]
    """Whole tokens of one document each, in the order of their groups; None where nobody marked any."""
    if draw(st.booleans()):
        return None
    filled = [(document, at) for document, at in layout.sources.values() if len(document.tokens)]
    found = []
    for group in sorted(draw(st.lists(st.integers(0, 3), max_size=4))):
        document, at = draw(st.sampled_from(filled))
        first = draw(st.integers(0, len(document.tokens) - 1))
        last = draw(st.integers(first, len(document.tokens) - 1))
        found.append(Span(at + document.tokens.starts[first], at + document.tokens.ends[last], group))
    return tuple(found)


@st.composite
def many(draw, one):  # type: ignore[no-untyped-def]
    """A split of up to four examples."""
    return tuple(draw(one(number)) for number in range(draw(st.integers(1, 4))))


def there_and_back(write, read, name, examples):
    """What is read of the examples once they were written to a file of this name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path, examples)
        return tuple(read(path))
