"""The one recipe, against its parts put together by hand."""

from __future__ import annotations

import pytest
from closed_form import engine

from helpers import tiny_corpus, tiny_model
from rationalize.data.splits import limit
from rationalize.errors import ConfigError
from rationalize.evaluation._faithfulness import measure_faithfulness
from rationalize.evaluation._query_alone import predict_queries
from rationalize.evaluation.recipe import evaluate_model
from rationalize.evaluation.scoring import evaluate
from rationalize.inference.engine import Engine
from rationalize.types import Example, Span

ASKED = [
    Example("a", "the good good film", "POS", query="bad plot", rationale=(Span(4, 8),)),
    Example("b", "the dire film", "NEG", query="dire plot"),
]


def test_it_is_what_its_parts_make():
    model = engine()
    explained = list(model.explain(ASKED, truncate=True))
    by_hand = evaluate(
        explained,
        split="dev",
        seed=3,
        faithfulness=measure_faithfulness(model, explained, removal="mask"),
        of_queries=predict_queries(model, ASKED),
    )
    found = evaluate_model(model, iter(ASKED), split="dev", truncate=True, faithfulness="mask", seed=3)
    assert found == by_hand
    assert found.task_accuracy_query is not None
    assert found.measured == by_hand.measured


def test_reduced_texts_are_read_of_a_stratified_sample():
    corpus = tiny_corpus(12)
    found = evaluate_model(tiny_model("un_rat").engine(), corpus, faithfulness="drop", faithfulness_limit=4)
    sample = [item for item in found.explained if item.encoded.example in limit(corpus, 4)]
    assert found.n_examples == 12
    assert found.measured == measure_faithfulness(tiny_model("un_rat").engine(), sample)


def test_progress_is_heard_from_start_to_end():
    heard = []
    evaluate_model(
        tiny_model("un_rat").engine(),
        tiny_corpus(4),
        faithfulness="drop",
        faithfulness_limit=2,
        on_progress=lambda done, total: heard.append((done, total)),
    )
    # a text and its reduced versions cost as much as thirteen texts
    assert heard == [(done, 28) for done in (1, 2, 3, 4, 16, 28)]


def test_a_wrong_removal_is_refused_before_anything_is_explained(monkeypatch):
    monkeypatch.setattr(Engine, "explain", lambda *_, **__: pytest.fail("explaining has begun"))
    with pytest.raises(ConfigError, match="'erase', expected drop or mask") as error:
        evaluate_model(tiny_model("un_rat").engine(), tiny_corpus(2), faithfulness="erase")
    assert error.value.fields == ("faithfulness",)
