"""Texts longer than the encoder reads are learned whole, one window at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from runs_helpers import interrupt, plain_config, run, small_config, tree

from helpers import Listener, tiny_corpus, tiny_run
from rationalize.evaluation.recipe import evaluate_model
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data
from rationalize.seeding import python_random
from rationalize.training import loop
from rationalize.types import Example, Span

NARROW = {"encoder": {"hidden_size": 16, "max_tokens": 16}}  # four windows or so of every text


def check_resumed(config, tmp_path, at):
    run(config, tmp_path / "whole")
    interrupt(config, tmp_path / "halves", at)
    run(config, tmp_path / "halves", resume=True)
    assert tree(tmp_path / "halves") == tree(tmp_path / "whole")


def test_a_resumed_run_sees_the_windows_that_the_whole_one_saw(tmp_path):
    check_resumed(plain_config(**NARROW, training={"epochs": 2}), tmp_path, 4)


@pytest.mark.slow
@pytest.mark.parametrize("at", [5, 12])
def test_a_resumed_run_cuts_found_shortcuts_and_copies_alike(tmp_path, at):
    check_resumed(small_config(**NARROW), tmp_path, at)


@pytest.mark.parametrize("long_texts", ["windows", "truncate"])
def test_an_epoch_reads_one_window_of_every_text(tmp_path, monkeypatch, long_texts):
    seen = []

    def spy(rows, pad_id):
        seen.append([(row.id, int(row.window.starts.max())) for row in rows])
        return collate(rows, pad_id)

    collate = loop.collate
    monkeypatch.setattr(loop, "collate", spy)
    corpus = tiny_corpus(14)
    settings = {"epochs": 6, "batch_size": 4}
    config = tiny_run("un_rat", encoder=NARROW["encoder"], training=settings, data={"long_texts": long_texts})
    display = Listener()
    data = make_training_data(config, corpus[:8], corpus[8:])
    model = train(config, data, tmp_path / "run", display)
    epochs = [[each for batch in seen[start : start + 2] for each in batch] for start in range(0, 12, 2)]
    assert all(sorted(name for name, _ in epoch) == sorted(e.id for e in corpus[:8]) for epoch in epochs)
    for encoded in model.text.encode_all(corpus[:8], truncate=long_texts == "truncate"):
        places = {int(window.starts.max()) for window in encoded.windows}
        assert {dict(epoch)[encoded.example.id] for epoch in epochs} == places
    words = "were cut" if long_texts == "truncate" else "each epoch reads one window of each"
    assert [message for message in display.messages if words in message]


def late_reviews(n: int) -> list[Example]:
    """Reviews that come to the point after three windows of 32 pieces."""
    found = []
    for review in tiny_corpus(n, seed=1):
        rng = python_random(1, "late", review.id)
        start = " . ".join(
            rng.choices(("the film runs two hours", "it was shot in color", "the cast is large"), k=14)
        )
        (gold,) = review.rationale
        said = review.text[gold.start : gold.end]
        span = Span(len(start) + 3, len(start) + 3 + len(said))
        found.append(replace(review, text=f"{start} . {said} .", rationale=(span,), shortcuts=None))
    return found


@pytest.mark.slow
def test_what_stands_at_the_end_of_long_texts_is_learned(tmp_path):
    """With truncated texts there is nothing to learn: the label is a coin, and no gold is ever seen."""
    reviews = late_reviews(160)
    scores = {}
    for long_texts in ("windows", "truncate"):
        config = tiny_run(
            "full_text",
            encoder={"max_tokens": 32},
            data={"long_texts": long_texts},
            training={"epochs": 12, "batch_size": 8, "learning_rate": 3e-3},
        )
        data = make_training_data(config, reviews[:120], reviews[120:])
        model = train(config, data, tmp_path / long_texts, Listener())
        assert len(model.text.encode(reviews[0], truncate=False).windows) > 3
        scores[long_texts] = evaluate_model(model.engine(), reviews[120:]).metrics["task_f1_weighted"]
    print(scores)
    assert scores["truncate"] < 0.7 < 0.85 < scores["windows"]


@pytest.mark.slow
def test_gold_at_the_end_of_long_texts_teaches_to_select(tmp_path):
    reviews = late_reviews(160)
    config = tiny_run(
        "sup_rat",
        encoder={"max_tokens": 32},
        options={"selection": {"decoding": "argmax"}},
        training={"epochs": 10, "batch_size": 8, "learning_rate": 3e-3},
    )
    display = Listener()
    train(config, make_training_data(config, reviews[:120], reviews[120:]), tmp_path / "run", display)
    print(display.epochs[-1][1])
    assert display.epochs[-1][1]["token_f1"] > 0.8
