from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from rich.console import Console

from made_results import with_metrics, with_trivial
from rationalize.metrics.significance import Interval
from rationalize.reporting.detail_tables import make_class_table, make_health_table
from rationalize.reporting.result_table import metric_table, warnings_of
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.reporting.wording import MeanValue, format_duration, format_percent, format_value


def column(table, title):
    index = [each.full_title for each in table.columns].index(title)
    return {row.values[0]: row.values[index] for row in table.rows}


def printed(table, width):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(table)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("value", "kind", "written"),
    [
        (0.2529, "score", "25.3"),
        (1.3333, "score", "133.3"),
        (199, "count", "199"),
        (12345, "count", "12\u202f345"),
        (None, "score", "–"),
        (float("nan"), "score", "–"),
        (MeanValue(0.371, 0.0125, 5), "score", "37.1 ± 1.2"),
        (MeanValue(0.371), "score", "37.1"),
        ("text", "text", "text"),
    ],
)
def test_numbers_are_written_in_one_way(value, kind, written):
    assert format_value(value, kind) == written


def test_percent_and_duration():
    assert format_percent(0.5) == "50.0\u00a0%"
    assert format_percent(None) == "–"
    assert [format_duration(seconds) for seconds in (0.4, 65, 3600)] == ["0:00", "1:05", "1:00:00"]


def test_metric_table_has_models_then_trivial_selectors_set_apart(results):
    table = metric_table({"semi_rat": results})
    assert [row.values[0] for row in table.rows] == [
        "semi_rat", "all words", "random 25\u00a0%", "first 25\u00a0%", "last 25\u00a0%"
    ]  # fmt: skip
    assert [row.apart for row in table.rows] == [False, True, True, True, True]
    assert column(table, "Token F1 ERASER")["semi_rat"] == 0.5
    assert column(table, "AUPRC")["semi_rat"] is None
    assert column(table, "Task F1 label")["all words"] is None


def test_optional_columns_appear_with_their_numbers(results):
    assert "Share shortcut" not in [each.full_title for each in metric_table({"a": results}).columns]
    means = {**results.metrics, "shortcut_share": 0.1, "ood_task_f1_weighted": MeanValue(0.6, 0.1, 3)}
    table = metric_table({"a": SimpleNamespace(metrics=means, trivial=results.trivial)})
    assert column(table, "Share shortcut")["a"] == 0.1
    assert column(table, "Out of domain task F1")["a"] == MeanValue(0.6, 0.1, 3)


def test_where_texts_were_cut_off_the_share_of_what_was_read_is_shown(results):
    whole, cut = (
        with_metrics(results, selected_fraction=0.1, selected_fraction_read=of_read) for of_read in (0.1, 0.4)
    )
    assert "Share of the read" not in [each.full_title for each in metric_table({"m": whole}).columns]
    table = metric_table({"whole": whole, "cut": cut})
    shown = column(table, "Share of the read")
    assert (shown.pop("whole"), shown.pop("cut")) == (0.1, 0.4)
    assert set(shown.values()) == {None}
    assert "cut off" in table.notes[0]


def test_a_model_no_better_than_a_trivial_selector_is_named(results):
    assert not any("not above" in note for note in metric_table({"a": results}).notes)
    worse = with_metrics(results, token_f1_eraser=0.4)
    notes = metric_table({"a": results, "b": worse, "c": worse}).notes
    assert (
        notes[-1] == "Token F1 ERASER, not above the best trivial selector: b 40.0, c 40.0 (all words: 40.0)."
    )


def test_a_model_that_need_not_read_the_text_is_named(results):
    assert "Task F1 query alone" not in [each.full_title for each in metric_table({"a": results}).columns]
    asked = with_metrics(results, task_f1_weighted=0.64, task_f1_weighted_query=0.6)
    reads = with_metrics(asked, task_f1_weighted=0.66)
    table = metric_table({"a": results, "b": asked, "c": reads})
    assert column(table, "Task F1 query alone")["b"] == 0.6
    assert "Task F1 hardly above the query alone: b 64.0 (60.0)." in table.notes


def test_trivial_selectors_are_shown_at_the_ends_but_judged_at_each_models_share(results):
    many = {}
    for share in (0.1, 0.2, 0.3):
        many[f"m{share}"] = results
        for selector in ("random", "first", "last"):
            many[f"m{share}"] = with_trivial(many[f"m{share}"], selector, share=share)
    many["m0.2"] = with_trivial(many["m0.2"], "last", token_f1_eraser=0.6)
    table = metric_table(many)
    assert [row.values[0] for row in table.rows if row.apart] == [
        "all words",
        *(f"{selector} {share}\u00a0%" for selector in ("random", "first", "last") for share in (10, 30)),
    ]
    assert table.notes[-1].endswith("trivial selector: m0.2 50.0 (last 20\u00a0%: 60.0).")


def test_best_is_marked_among_models_only():
    columns = (Column("", "text"), Column("up", best="max"), Column("down", best="min"), Column("plain"))
    rows = (
        TableRow(("a", 0.5, MeanValue(0.2, 0.1), 0.9)),
        TableRow(("b", 0.4, 0.3, 0.1)),
        TableRow(("c", None, 0.2, 0.1)),
        TableRow(("t", 0.5, 0.2, 1.0), apart=True),
    )
    best = [[flag for _, flag in row.cells] for row in Table("", columns, rows).format_rows()]
    assert best == [[False, True, True, False], [False] * 4, [False, False, True, False], [False] * 4]


def test_a_lone_model_is_not_called_best(results):
    assert "**" not in metric_table({"a": results}, title="").to_markdown()


def test_markdown_holds_hostile_names_in_their_cells():
    table = Table("a|b", (Column("x|y", "text"), Column("*")), (TableRow(("<b>|\n", 0.5)),), ("n|",))
    title, heading, rule, row, note = [line for line in table.to_markdown().splitlines() if line]
    assert row == r"| \<b\>\| | 50.0 |"
    assert (title, heading, rule, note) == (r"**a\|b**", r"| x\|y | \* |", "| --- | ---: |", r"n\|")


def test_html_is_well_formed_scoped_and_escaped(results):
    page = ElementTree.fromstring(f"<div>{metric_table({'<i>&': results}).to_html()}</div>")
    scopes = [cell.get("scope") for cell in page.iter("th")]
    assert {"col", "colgroup", "row"} == set(scopes)
    assert page.find(".//tbody/tr/th").text == "<i>&"
    assert [body.get("class") for body in page.iter("tbody")] == [None, "apart"]
    widths = [int(cell.get("colspan")) for cell in page.find(".//thead/tr")]
    assert sum(widths) == len(list(page.findall(".//thead/tr")[1]))


def test_a_narrow_terminal_turns_the_table_on_its_side(results):
    wide, narrow = (printed(metric_table({"semi_rat": results}), width) for width in (200, 80))
    assert any(line.split()[:2] == ["semi_rat", "87.5"] for line in wide.splitlines())
    assert any(
        line.split() == ["Token", "F1", "ERASER", "50.0", "40.0", "20.0", "20.0", "20.0"]
        for line in narrow.splitlines()
    )


def test_health_table_and_warnings(results):
    table = make_health_table({"a": results})
    assert table.rows[0].values == ("a", 0.25, 0.2, 0.0, 0.75, 0.5)
    assert warnings_of({"a": results}) == [("a", "The selector selects almost nothing.")]
    assert make_health_table({}) is None


def test_without_any_gold_its_columns_are_left_out(results):
    gold = ("Token F1 ERASER", "Token F1 micro-piece", "IOU F1 @0.5 1-to-1", "AUPRC", "Share gold")
    titles = [each.full_title for each in metric_table({"a": results}).columns]
    assert set(gold) <= set(titles)
    without = with_metrics(results, token_f1_eraser=None)
    for selector in results.trivial:
        without = with_trivial(without, selector, token_f1_eraser=None)
    table = metric_table({"a": without})
    titles = [each.full_title for each in table.columns]
    assert not set(gold) & set(titles)
    assert "Share selected" in titles
    assert "AUPRC" not in table.notes[0]


def test_faithfulness_stands_beside_chance(results):
    assert "Sufficiency" not in metric_table({"a": results}).notes[0]
    own = with_metrics(results, comprehensiveness=0.25, sufficiency=-0.125)
    table = metric_table({"a": with_trivial(own, "random", comprehensiveness=0.05, sufficiency=0.3)})
    assert column(table, "Comprehensiveness rationale")["a"] == 0.25
    assert column(table, "Sufficiency rationale")["random 25\u00a0%"] == 0.3
    assert "Sufficiency AOPC" not in [each.full_title for each in table.columns]
    assert "as many words of each text" in table.notes[0]


def test_results_of_an_oracle_come_with_a_warning(results):
    ((_, first), *_) = warnings_of({"a": replace(results, oracle_label=True)})
    assert "given the gold label" in first


def test_titles_and_notes_cannot_leave_their_comments_in_latex():
    table = Table("a\n\\input{x} & b", (Column("name\n%", "text"),), (), ("n\r\n\\write18{rm}",))
    lines = table.to_latex().splitlines()
    assert lines[0] == r"% a \textbackslash{}input\{x\} \& b"
    assert lines[-1] == r"% n \textbackslash{}write18\{rm\}"
    assert r"name \% \\" in lines


def test_classes_have_precision_and_recall(results):
    table = make_class_table({"a": results})  # NEG: 3 right, 1 taken for POS; POS: 4 right
    assert [row.values for row in table.rows] == [
        ("NEG", 1.0, 0.75, pytest.approx(6 / 7), 4),
        ("POS", 0.8, 1.0, pytest.approx(8 / 9), 4),
    ]
    both = make_class_table({"a": results, "b": results})
    assert [row.values[0] for row in both.rows] == ["a: NEG", "a: POS", "b: NEG", "b: POS"]
    assert make_class_table({"a": replace(results, confusion={})}) is None


def test_scores_of_a_sample_have_margins(results):
    found = replace(results, intervals={"task_f1_weighted": Interval(0.6, 0.96)})
    shown = metric_table({"a": found}).to_markdown()
    assert "87.5 ± 18.0" in shown
    assert "95 % interval over 8 examples" in shown
    assert "±" not in metric_table({"a": results}).to_markdown()


def test_a_bag_of_words_stands_beside_the_label(results):
    assert "bag of words" not in metric_table({"a": results}).to_markdown()
    shown = metric_table({"a": with_metrics(results, task_f1_weighted_bag=0.7)}).to_markdown()
    assert "Task F1 bag of words" in shown
    assert "| 70.0 |" in shown
