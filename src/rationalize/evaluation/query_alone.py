"""What a model says of a query whose text it cannot read.

Where questions or claims give their own answers away, a model need not read the text at all, and no rationale
explains its label. The same model on an empty text shows how far that goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rationalize.inference.engine import Engine
from rationalize.types import Example


def predict_queries(engine: Engine, examples: Iterable[Example]) -> dict[str, str]:
    """The label of every example that has a query, from the query and an empty text, by the example's id.

    None of them, if the model does not read queries.
    """
    if not engine.text.use_query:
        return {}
    asked = [_drop_text(example) for example in examples if example.query]
    answers = engine.probabilities([engine.text.encode(example, truncate=True) for example in asked])
    return {
        example.id: max(answer, key=answer.__getitem__)
        for example, answer in zip(asked, answers, strict=True)
    }


def _drop_text(example: Example) -> Example:
    return replace(example, text="", rationale=None, shortcuts=None, documents=())
