"""Labels that a model gives without having read the text."""

from __future__ import annotations

from closed_form import engine

from rationalize.evaluation._query_alone import predict_queries
from rationalize.evaluation.scoring import evaluate
from rationalize.types import Example, Span

EXAMPLES = [
    Example("given away", "the dire dire film", "NEG", query="dire plot"),
    Example("misled", "the good good film", "POS", query="bad plot", rationale=(Span(4, 8),)),
    Example("unasked", "the good film", "POS"),
]


def test_only_queries_are_read():
    model = engine()
    assert predict_queries(model, EXAMPLES) == {"given away": "NEG", "misled": "NEG"}
    assert sorted(model.method.seen) == [
        ["[CLS]", "bad", "plot", "[SEP]"],
        ["[CLS]", "dire", "plot", "[SEP]"],
    ]


def test_their_score_stands_beside_that_of_the_label():
    model = engine()
    explained = list(model.explain(EXAMPLES))
    found = evaluate(explained, split="test", of_queries=predict_queries(model, EXAMPLES))
    assert found.task_accuracy == 1.0
    assert found.task_accuracy_query == 0.5, "of the two that have a query"
    assert evaluate(explained, split="test").task_f1_weighted_query is None


def test_nothing_is_asked_without_queries():
    deaf = engine()
    deaf.text.use_query = False
    assert predict_queries(deaf, EXAMPLES) == {}
    model = engine()
    assert predict_queries(model, EXAMPLES[2:]) == {}
    assert model.method.seen == []
