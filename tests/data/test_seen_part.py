"""What is hashed of an example: everything but its metadata."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from rationalize.data.seen_part import write_seen
from rationalize.files import json_line
from rationalize.types import Document, Example, Span

EXAMPLES = [
    Example("a", "some text\u2028é", "POS"),
    Example("b", "more", None, "a query", (), (Document("d", 0, 4),), (Span(0, 2, 1), Span(3, 4))),
    Example("c", "more", "NEG", None, (Span(0, 4),), metadata={"source": "web"}),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.id)
def test_it_is_all_fields_of_an_example_but_its_metadata(example):
    seen = asdict(example)
    del seen["metadata"]
    assert write_seen(example) == json_line(seen).encode()
