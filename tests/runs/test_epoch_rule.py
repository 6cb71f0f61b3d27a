"""Which dev scores choose an epoch, and how much it may select."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from helpers import Listener, tiny_corpus, tiny_model, tiny_rows, tiny_run
from rationalize.config import TrainingConfig
from rationalize.runs._epoch_rule import ShareBand, make_share_band, measure_gold_share, score_epoch
from rationalize.runs.training_data import make_training_data
from rationalize.text.windows import Encoded
from rationalize.training.loop import Trainer
from rationalize.types import Example, Span

SCORES = {"task_f1": 0.6, "token_f1": 0.2}
BOTH = {"task_f1": 0.9, "task_f1_full_text": 0.9, "task_f1_rationale": 0.5}


@pytest.mark.parametrize(
    ("method", "rule", "scores", "chosen"),
    [
        ("un_rat", "auto", SCORES, 0.6),
        ("semi_rat", "auto", SCORES, 0.2),
        ("sup_rat", "auto", SCORES, 0.2),
        ("semi_rat", "auto", {"task_f1": 0.6}, 0.6),
        ("semi_rat", "task_f1", SCORES, 0.6),
        ("semi_rat", "token_f1", SCORES, 0.2),
        ("semi_rat", "task_and_token_f1", SCORES, 0.4),
        ("semi_rat", "last", SCORES, None),
        # The label from the rationale alone, of methods that learn to read it …
        ("rtp", "auto", BOTH, 0.5),
        ("semi_rat", "task_f1", BOTH, 0.5),
        ("unirex", "task_f1", BOTH, 0.5),
        ("mrd", "auto", BOTH, 0.5),
        # … and the one that is decided on, where a label from the rationale is only a probe.
        ("full_text", "auto", BOTH, 0.9),
        ("car", "auto", BOTH, 0.9),
        ("sup_rat", "auto", BOTH, 0.9),
        ("wsee", "auto", BOTH, 0.9),
    ],
)
def test_epochs_are_chosen_by_the_rule(method, rule, scores, chosen):
    config = tiny_run(method, training={"select_by": rule})
    assert score_epoch(scores, config) == (None if chosen is None else pytest.approx(chosen))


def test_a_band_holds_from_half_to_one_and_a_half_of_the_wanted_share():
    band = ShareBand(0.2, 0.5)
    shares = [0.0, 0.09, 0.1, 0.2, 0.3, 0.31, 0.73, None]
    assert [band.holds(share) for share in shares] == [False, False, True, True, True, False, False, False]


def encode(text: str, rationale: tuple[Span, ...] | None, *, cut: int | None = None) -> Encoded:
    places = [0, *(i + 1 for i, each in enumerate(text) if each == " "), len(text) + 1]
    words = tuple(Span(start, end - 1) for start, end in itertools.pairwise(places))
    example = Example("one", text, label="POS", rationale=rationale)
    return Encoded(example, words, (), None if cut is None else Span(cut, len(text)))


def test_gold_is_measured_on_what_is_read_of_annotated_examples():
    first = encode("aa bb cc dd", (Span(0, 2), Span(9, 11)), cut=6)  # one gold word of the two that are read
    nothing = encode("aa bb", ())
    assert measure_gold_share([first, nothing, encode("aa bb cc", None)]) == pytest.approx(1 / 4)
    assert measure_gold_share([encode("aa", None)]) is None


def band_of(method, dev=None, *, options=None, **training):
    config = tiny_run(method, options=options or {}, training=training)
    data = make_training_data(config, tiny_corpus(40), tiny_corpus(10))
    gold = encode("aa bb cc dd ee ff gg hh", (Span(0, 2),))
    return make_share_band(config, data, [gold] if dev is None else dev)


def test_the_wanted_share_is_golds_where_gold_is_taught_else_the_methods():
    loose = {"selection": {"decoding": "argmax", "share": 0.3}}
    assert band_of("semi_rat", options=loose) == ShareBand(1 / 8, 0.5)
    assert band_of("semi_rat", [], options=loose) == ShareBand(0.3, 0.5)
    assert band_of("un_rat", options=loose) == ShareBand(0.3, 0.5)
    assert band_of("un_rat", options=loose, share_band=0.25) == ShareBand(0.3, 0.25)


def test_there_is_no_band_where_the_share_is_fixed_or_does_not_matter():
    loose = {"selection": {"decoding": "argmax"}}
    assert band_of("un_rat") is None  # topk
    assert band_of("un_rat", options=loose, share_band=None) is None
    assert band_of("un_rat", options=loose, select_by="last") is None
    assert band_of("full_text") is None


def test_the_epoch_that_selects_most_does_not_win(tmp_path):
    """MRD and RTP had their best dev task F1 where they selected 73 % at a target of 15."""
    band, config = ShareBand(0.15, 0.5), tiny_run("mrd")
    epochs = [(0.9, 0.73), (0.7, 0.2), (0.7, 0.16), (0.95, 0.8), (0.6, 0.1)]
    dev = iter({"task_f1": task, "selected_fraction_read": share} for task, share in epochs)
    state = Trainer(
        tiny_model("mrd").method,
        {"all": tiny_rows(tiny_corpus(2))},
        TrainingConfig(epochs=5, batch_size=2),
        seed=1,
        pad_id=0,
        folder=tmp_path,
        evaluate=lambda: next(dev),
        score=lambda scores: score_epoch(scores, config),
        fits=lambda scores: band.holds(scores["selected_fraction_read"]),
        display=(display := Listener()),
    ).run(resume=False)
    assert [best for _, _, best in display.epochs] == [True, True, True, False, False]
    assert (state.standing.best_epoch, state.standing.best_score) == (2, 0.7)


def test_annotated_dev_examples_without_a_mark_lower_the_wanted_share():
    example = encode("aa bb cc dd", (Span(0, 2),))
    empty = replace(example, example=replace(example.example, rationale=()))
    assert measure_gold_share([example]) == 2 * measure_gold_share([example, empty])
