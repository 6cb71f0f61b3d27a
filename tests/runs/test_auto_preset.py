"""The preset `auto`: what the data look like decides, what is given overrides, and the run says why."""

from __future__ import annotations

import pytest

from rationalize.runs import auto_preset
from rationalize.runs.auto_preset import look_at, use_auto
from rationalize.runs.settings import load_config
from rationalize.types import Example, Span


def texts(n_words, n=40, *, query=None, marked=0.0, empty=False):
    """Examples of so many words, the first `marked` of them gold; every second one has nothing to mark if `empty`."""
    made = []
    for i in range(n):
        text = " ".join(["word"] * n_words)
        gold = (Span(0, 5 * round(marked * n_words) - 1),) if marked else None
        if empty and i % 2:
            gold = ()
        made.append(Example(str(i), text, "ab"[i % 2], query=query, rationale=gold))
    return made


def use(examples, method="semi_rat", **given):
    return use_auto(look_at(examples, "unicode"), method, {"device": "cpu", **given})


@pytest.mark.parametrize(
    ("examples", "kind"),
    [
        (texts(13), "short"),
        (texts(13, query="why"), "paragraphs"),
        (texts(200), "paragraphs"),
        (texts(700), "long"),
    ],
)
def test_length_and_query_name_the_kind(examples, kind):
    assert look_at(examples, "unicode").kind == kind


def test_the_share_is_what_people_marked():
    assert use(texts(20, marked=0.3)).applied["options.selection.share"] == 0.3
    assert "options.selection.share" not in use(texts(20)).applied, "nobody marked anything"
    assert use(texts(20, marked=0.3, empty=True)).applied["options.selection.share"] == 0.15, "of all words"


def test_small_data_get_more_epochs():
    few, many = (use(texts(13, n)).applied["training.epochs"] for n in (40, 9000))
    assert few > many >= 3


def test_what_is_given_wins_and_is_not_claimed():
    found = use(texts(13, marked=0.3), **{"options.selection.share": 0.1, "training.epochs": 2})
    assert not {"options.selection.share", "training.epochs"} & found.applied.keys()
    assert not any("training examples" in reason for reason in found.reasons)


def test_a_method_gets_only_what_it_has():
    assert "options.supervision.select_weight" not in use(texts(13, marked=0.3), "un_rat").applied
    load_config(None, {"method": "full_text"}, preset="auto", looks=look_at(texts(13, marked=0.3), "unicode"))


def test_who_does_not_learn_from_gold_needs_evidence_in_every_text():
    data = texts(20, marked=0.3, empty=True)
    assert use(data, "un_rat").applied["options.selection.share"] == 0.3
    assert use(data, "ssr_unif").applied["shortcuts.finder.selection.share"] == 0.3
    assert "shortcuts.finder.selection.share" not in use(texts(20, marked=0.3), "ssr_unif").applied


def test_only_who_learns_from_gold_may_select_more_in_some_texts_than_in_others():
    data = texts(20, marked=0.3)
    assert use(data, "semi_rat").applied["options.selection.decoding"] == "calibrated"
    assert (
        not {"options.selection.decoding", "options.selection.sparsity"} & use(data, "un_rat").applied.keys()
    )


def test_the_share_is_held_over_all_texts_only_where_some_have_nothing_to_mark():
    found = use(texts(20, marked=0.3, empty=True))
    assert found.applied["options.selection.sparsity"] == "batch"
    assert "50 % of the texts with nothing to mark" in found.reasons
    assert "options.selection.sparsity" not in use(texts(20, marked=0.3)).applied


def test_texts_without_gold_are_read_between_those_with_it():
    assert use(texts(20, marked=0.3)).applied["training.interleave"] is True
    assert "training.interleave" not in use(texts(20, marked=0.3), "un_rat").applied


def test_taggers_weigh_rare_gold():
    weight = "options.positive_weight"
    for method in ("wsee", "at_bmc"):
        found = use(texts(400, marked=0.09), method)
        assert found.applied[weight] == "balanced"
        assert "gold that is rare (9 % of the words)" in found.reasons
        assert weight not in use(texts(400, marked=0.2), method).applied
    assert weight not in use(texts(400, marked=0.09), "semi_rat").applied


def test_an_encoder_from_scratch_learns_faster():
    rates = [
        use(texts(13), **{"encoder.name": name}).applied.get("training.learning_rate")
        for name in ("tiny", "minilm")
    ]
    assert rates[0] is not None
    assert rates[0] > (rates[1] or 0)


def test_before_the_data_are_seen_nothing_is_chosen():
    assert load_config(None, {}, preset="auto").preset is None


def test_long_reading_on_a_cpu_has_a_budget():
    many = texts(200, 3000)
    applied = use(many).applied
    assert applied["training.epochs"] == 3
    assert 0 < applied["training.epoch_share"] < 1
    assert "training.epoch_share" not in use(many, **{"encoder.name": "tiny"}).applied, "cheap enough"
    assert "training.epoch_share" not in use(texts(13, 3000)).applied


def test_few_documents_warm_up_longer_and_that_counts_against_the_budget():
    few, many = (use(texts(700, n)).applied["training.warm_start"] for n in (300, 4000))
    assert few == 10
    assert many == 1
    warmed, cold = (use(texts(700, 4000), **{"training.warm_start": n}).applied for n in (3, 0))
    assert warmed["training.epoch_share"] < cold["training.epoch_share"]
    assert "training.warm_start" not in use(texts(13)).applied, "short texts need none"


@pytest.mark.parametrize("fast", [True, False])
def test_a_processor_that_multiplies_in_half_precision_does_so_for_pretrained_encoders(fast, monkeypatch):
    monkeypatch.setattr(auto_preset, "has_fast_bf16", lambda: fast)
    assert use(texts(13)).applied.get("training.precision") == ("bf16" if fast else None)
    assert "training.precision" not in use(texts(13), **{"encoder.name": "tiny"}).applied
