"""Predict labels from queries alone, with empty texts.

If questions or claims reveal their own answers, a model need not read the text at all, and no rationale explains
its label. The same model on an empty text shows how far that goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rationalize.inference.engine import Engine
from rationalize.types import Example


def predict_queries(engine: Engine, examples: Iterable[Example]) -> dict[str, str]:
    """Predict the label of every example with a query from the query and an empty text, by example id.

    Empty if the model does not read queries.
    """
    if not engine.text.use_query:
        return {}
    queries = [_drop_text(example) for example in examples if example.query]
    answers = engine.probabilities(engine.text.encode_all(queries, truncate=True))
    return {
        example.id: max(answer, key=answer.__getitem__)
        for example, answer in zip(queries, answers, strict=True)
    }


def _drop_text(example: Example) -> Example:
    return replace(example, text="", rationale=None, shortcuts=None, documents=())
