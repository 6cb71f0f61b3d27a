"""Annotated texts meant to break readers and writers of annotation tools' files."""

from __future__ import annotations

import json
from dataclasses import replace

from data_strategies import spans_in
from hypothesis import strategies as st

from rationalize.types import Document, Example, Explanation, Span

WHITE_SPACE = " \t\n\r\f\v"
PIECES = [
    *("a", "b c", "aa ", "  ", "\n", "\r\n", "\r", "\t", "\x85", "\u2028", "\ufeff", "\\n"),
    *(
        "😀",
        "👩‍👩‍👧",
        "🏳️‍🌈",
        "𝒳",
        "日本語",
        "שלום",
        "مرحبا ",
        "e\u0301",
        "ไทย",
        "\u00a0",
        '"',
        "</b>",
        "%41",
        "/",
    ),
]
pieces = st.sampled_from(PIECES) | st.text(max_size=3)
texts = (
    st.lists(pieces, min_size=1, max_size=10).map("".join).filter(lambda text: bool(text.strip(WHITE_SPACE)))
)
names = st.lists(pieces, min_size=1, max_size=2).map("".join).filter(bool)


@st.composite
def example_lists(draw: st.DrawFn) -> list[Example]:
    """Up to four examples, some marked, some not, some with documents, groups and shortcuts."""
    found = []
    for number in range(draw(st.integers(1, 4))):
        text = draw(texts)
        found.append(
            Example(
                id=f"{number}{draw(st.just('') | names)}",
                text=text,
                label=draw(st.none() | names),
                query=draw(st.none() | names),
                rationale=draw(spans_in(len(text), groups=2)),
                documents=draw(st.sampled_from([(), (Document("d", 0, len(text)),)])),
                shortcuts=draw(spans_in(len(text), groups=2)),
            )
        )
    return found


def as_tools_keep_it(examples, change=lambda example: example):
    """What can come back: no documents, no groups, no shortcuts where nobody marked a rationale.

    What is marked nowhere in the file is unknown, not empty.
    """
    plain = [change(_plain(example)) for example in examples]
    has_rationale = any(example.rationale for example in plain)
    has_shortcuts = any(example.shortcuts for example in plain)
    return [
        replace(
            example,
            rationale=example.rationale if has_rationale else None,
            shortcuts=example.shortcuts if has_shortcuts else None,
        )
        for example in plain
    ]


def _plain(example):
    if example.rationale is None:
        return replace(example, documents=(), shortcuts=None)
    return replace(
        example,
        documents=(),
        rationale=ungrouped(example.rationale),
        shortcuts=ungrouped(example.shortcuts or ()),
    )


def ungrouped(spans):
    return tuple(dict.fromkeys(Span(span.start, span.end) for span in spans))


def explain(example, label="pos", spans=((0, 1),)):
    """A model's explanation of an example."""
    return Explanation(
        id=example.id,
        text=example.text,
        query=example.query,
        label=label,
        probabilities={label: 0.75, "other": 0.25},
        spans=tuple(Span(*span) for span in spans),
        words=(Span(0, len(example.text)),),
        scores=(1.0,),
        selected=(True,),
        faithful=True,
        method="un_rat",
    )


def write_rows(path, *rows):
    """A JSON Lines file."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_array(path, value):
    """A JSON file."""
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def marked(example):
    """The marked pieces of an example's text."""
    return [example.text[span.start : span.end] for span in example.rationale]
