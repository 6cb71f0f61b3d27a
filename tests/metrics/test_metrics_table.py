from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics_golden import GOLDEN, cases, close, untimed

from rationalize.errors import DataError
from rationalize.metrics import ScoredInstance, score, trivial_rows
from rationalize.metrics.instance import span_mask
from rationalize.metrics.named_metrics import TrivialRow

pytestmark = pytest.mark.filterwarnings("ignore:Predicted labels that no example has")

CONTRACT = """
task_f1_weighted task_accuracy token_f1_micro_piece token_f1_eraser token_p_eraser token_r_eraser
token_f1_eraser_micro span_f1_exact iou_f1_eraser@0.5 iou_f1_1to1@0.5 auprc selected_fraction gold_fraction
n_instances n_empty_gold n_empty_prediction n_truncated gold_lost_to_truncation task_f1_weighted_full_text
task_f1_weighted_rationale shortcut_share
"""


def instances_of(case):
    """Instances as one would make them of ERASER's result rows."""
    made = []
    for row in case["results"]:
        n_words = len(case["documents"][row["document"]].split())
        gold = [span[1:] for span in case["gold"][row["id"]] if span[0] == row["document"]]
        made.append(
            ScoredInstance(
                id=row["id"],
                document=row["document"],
                n_words=n_words,
                selected=span_mask(row["spans"], n_words, where=row["id"]),
                scores=tuple(row["scores"]),
                gold=tuple(map(tuple, gold)),
                gold_label=case["gold_labels"][row["id"]],
                label=row["label"],
            )
        )
    return made


def one(**changes):
    values = {
        "id": "x",
        "n_words": 4,
        "selected": (True, True, False, False),
        "label": "a",
        "gold_label": "a",
    }
    return ScoredInstance(**values | changes)


def check_eraser(row, expected):
    token, spans, iou = expected["token_prf"], expected["rationale_prf"], expected["iou_scores"][0]
    for part in ("p", "r", "f1"):
        assert row[f"token_{part}_eraser"] == close(token["instance_macro"][part])
        assert row[f"token_{part}_eraser_micro"] == close(token["instance_micro"][part])
    assert row["span_f1_exact"] == close(spans["instance_macro"]["f1"])
    assert row["iou_f1_eraser@0.5"] == close(iou["macro"]["f1"])


@cases("end_to_end", refused=False)
def test_eraser_end_to_end(case):
    expected = case["expected"]
    row = score(instances_of(case))
    assert row["task_accuracy"] == close(expected["classification_scores"]["accuracy"])
    weighted = expected["classification_scores"]["prf"]["weighted avg"]["f1-score"]
    assert row["task_f1_weighted"] == close(weighted)
    soft = expected["token_soft_metrics"]
    assert [row["auprc"], row["average_precision"], row["roc_auc"]] == close(
        [soft["auprc"], soft["average_precision"], soft["roc_auc_score"]]
    )
    if "token_prf" in expected:
        check_eraser(row, expected)
    else:  # the reference drops all hard scores because the first selection is empty; ours counts it as 0
        assert row["n_empty_prediction"] == 1
        assert row["token_f1_eraser"] == close(0.4)
        assert row["iou_f1_eraser@0.5"] == close(2 / 3)


def test_what_the_reference_refuses():
    refused = GOLDEN["end_to_end"]
    with pytest.raises(DataError, match=r"r1: \[4, 60\) is not inside"):
        instances_of(refused["span_past_the_document_rejected"])
    with pytest.raises(DataError, match="scores: got 6 values, expected one for each of the document's 11"):
        instances_of(refused["soft_length_mismatch_rejected"])
    united = score(instances_of(refused["overlapping_predictions_rejected"]))
    assert united["token_p_eraser"] == close((3 / 4 + 2 / 3) / 2)


def test_the_names_are_there_and_an_empty_split_has_no_numbers():
    row = score([])
    assert set(CONTRACT.split()) <= set(row)
    assert all(value is None or (name.startswith("n_") and value == 0) for name, value in row.items())
    assert "comprehensiveness" not in row
    for trivial in trivial_rows([]).values():
        assert trivial.token_f1_eraser is None


def test_a_trivial_row_is_written_with_all_of_its_numbers():
    row = TrivialRow({"token_f1_eraser": 0.5, "sufficiency": 0.25}, 0.1, "gold")
    assert row.to_dict() == {"token_f1_eraser": 0.5, "share": 0.1, "share_from": "gold", "sufficiency": 0.25}


def test_labels_that_nobody_has_are_counted_and_others_are_not():
    rows = [one(), one(id="y", label="b"), one(id="z")]
    assert score(rows)["n_unseen_label"] == 1


def test_task_scores_count_an_example_once():
    rows = [one(document="d1"), one(document="d2"), one(id="y", label="b")]
    row = score(rows)
    assert (row["task_accuracy"], row["n_instances"], row["n_examples"]) == (0.5, 3, 2)
    assert row["n_unseen_label"] == 1


def test_labels_of_full_text_and_rationale_have_their_own_scores():
    row = score([one(label_full_text="a", label_rationale="b"), one(id="y", gold_label=None)])
    assert (row["task_f1_weighted_full_text"], row["task_f1_weighted_rationale"]) == (1.0, 0.0)
    assert score([one()])["task_f1_weighted_full_text"] is None


def test_unannotated_documents_count_in_shares_and_task_scores_alone():
    annotated = one(gold=((0, 1),), piece_gold=(0, 1, 0), piece_selected=(0, 1, 1))
    rest = one(id="y", label="b", selected=(True,) * 4, piece_gold=(0,), piece_selected=(1,))
    row, alone = score([annotated, rest]), score([annotated])
    for name in (
        "token_f1_eraser",
        "token_f1_micro_piece",
        "span_f1_exact",
        "iou_f1_1to1@0.5",
        "gold_fraction",
    ):
        assert row[name] == alone[name] is not None
    assert (row["selected_fraction"], row["task_accuracy"], row["n_annotated"]) == (0.75, 0.5, 1)


def test_annotated_but_empty_gold_is_not_unannotated():
    row = score([one(gold=())])
    assert (row["token_f1_eraser"], row["n_empty_gold"], row["gold_fraction"]) == (0.0, 1, 0.0)
    assert row["gold_lost_to_truncation"] is None


def test_shares_and_truncation():
    rows = [
        one(gold=((1, 4),), n_words_read=2),
        one(id="y", gold_label="b", label="b", selected=(False,) * 4),
    ]
    row = score(rows)
    assert (row["selected_fraction"], row["selected_fraction_read"]) == (0.25, close(1 / 3))
    assert (row["selected_fraction/a"], row["selected_fraction/b"]) == (0.5, 0.0)
    assert (row["n_truncated"], row["n_gold_words_lost"]) == (1, 2)
    assert row["gold_lost_to_truncation"] == close(2 / 3)
    assert (row["n_empty_prediction"], row["gold_fraction"]) == (1, 0.75)


def test_faithfulness_is_added_as_it_is_but_never_infinite():
    row = score([one()], faithfulness={"sufficiency": 0.1, "sufficiency_kl": math.inf})
    assert (row["sufficiency"], row["sufficiency_kl"]) == (0.1, None)


def test_a_document_given_twice_or_with_two_labels_is_refused():
    with pytest.raises(DataError, match="example 'x': given twice"):
        score([one(), one()])
    with pytest.raises(DataError, match="example 'x', document 'd': label is 'b', but 'a'"):
        score([one(), one(document="d", label="b")])


def test_trivial_rows_at_the_models_share():
    long = one(n_words=10, selected=(True,) * 2 + (False,) * 8, gold=((8, 10),), scores=(0.5,) * 10)
    rows = trivial_rows([long])
    assert list(rows) == ["all", "random", "first", "last"]
    assert [rows[name].token_f1_eraser for name in ("all", "first", "last")] == close([1 / 3, 0.0, 1.0])
    assert (rows["last"].auprc, rows["last"].share, rows["last"].share_from) == (1.0, 0.2, "model")
    assert (rows["all"].share, rows["all"].selected_fraction, rows["all"].auprc) == (
        1.0,
        1.0,
        close(0.6),
    )
    assert rows["random"].selected_fraction == 0.2
    assert "task_f1_weighted" not in rows["all"].metrics


def test_trivial_rows_on_pieces():
    pieces = {"piece_gold": (0, 0, 1, 1, 0), "piece_selected": (0,) * 5}
    rows = trivial_rows([one(gold=(), **pieces)], share=0.5)
    assert [rows[name].token_f1_micro_piece for name in ("all", "first", "last")] == close([4 / 7, 0.4, 0.8])
    # Without the special piece at the end, `last` finds both gold pieces; `all` still takes every piece.
    rows = trivial_rows([one(gold=(), **pieces, piece_selectable=(0, 1, 1, 1, 0))], share=0.5)
    assert [rows[name].token_f1_micro_piece for name in ("all", "first", "last")] == close([4 / 7, 0.5, 1])


def test_of_a_text_that_was_cut_off_trivial_selectors_take_as_much_of_what_was_read():
    cut = one(
        n_words=10, n_words_read=4, selected=(True,) * 2 + (False,) * 8, gold=((2, 4),),
        piece_gold=(0, 0, 1, 1), piece_selected=(1, 1, 0, 0),
    )  # fmt: skip
    rows = trivial_rows([cut])
    assert (rows["last"].share, rows["last"].selected_fraction) == (0.2, 0.2)
    assert [rows[name].token_f1_micro_piece for name in ("first", "last")] == close([0.0, 1.0])


def test_random_pieces_differ_between_documents():
    pieces = {"gold": (), "piece_gold": (1,) * 20 + (0,) * 20, "piece_selected": (0,) * 40}
    found = [trivial_rows([one(id=str(i), **pieces)])["random"].token_r_micro_piece for i in range(10)]
    assert len(set(found)) > 1


def test_where_the_trivial_share_is_from():
    nothing = one(selected=(False,) * 4)
    assert trivial_rows([nothing])["first"].share_from == "default"
    assert trivial_rows([one(selected=(False,) * 4, gold=((0, 2),))])["first"].share == 0.5
    assert trivial_rows([nothing], share=0.3)["first"].share_from == "given"
    assert trivial_rows([nothing], share=0.0)["first"].n_empty_prediction == 1


def test_random_rows_follow_the_seed():
    rows = [
        one(id=str(i), n_words=50, selected=(True,) * 10 + (False,) * 40, gold=((0, 9),)) for i in range(5)
    ]
    assert trivial_rows(rows, seed=1) == trivial_rows(rows[::-1], seed=1)
    assert trivial_rows(rows, seed=1) != trivial_rows(rows, seed=2)


@st.composite
def instance(draw, index):
    n = draw(st.integers(0, 6))
    span = st.tuples(st.integers(0, n), st.integers(0, n)).map(lambda pair: tuple(sorted(pair)))
    mask = st.tuples(*[st.booleans()] * n)
    bits = draw(st.integers(0, 3))
    piece = st.one_of(st.none(), st.just((draw(st.tuples(*[st.integers(0, 1)] * bits)),) * 2))
    pieces = draw(piece) or (None, None)
    return ScoredInstance(
        id=str(index),
        n_words=n,
        selected=draw(mask),
        label=draw(st.sampled_from("ab")),
        n_words_read=draw(st.one_of(st.none(), st.integers(0, n))),
        scores=draw(st.one_of(st.none(), st.tuples(*[st.floats(0, 1)] * n))),
        gold=draw(st.one_of(st.none(), st.lists(span, max_size=3).map(tuple))),
        gold_label=draw(st.sampled_from(["a", "b", None])),
        shortcut_words=draw(st.one_of(st.none(), mask)),
        piece_gold=pieces[0],
        piece_selected=pieces[1],
    )


@untimed
@given(st.integers(0, 4).flatmap(lambda n: st.tuples(*(instance(index) for index in range(n)))))
def test_every_table_is_json_without_nan_and_in_bounds(instances):
    row = score(instances)
    json.dumps([row, [each.to_dict() for each in trivial_rows(instances).values()]], allow_nan=False)
    bounded = [v for k, v in row.items() if v is not None and not k.startswith(("n_", "iou_f1_eraser"))]
    assert all(0 <= value <= 1 + 1e-12 for value in bounded)
