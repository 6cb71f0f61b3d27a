from __future__ import annotations

import math
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from rationalize.reporting.curves import curve_charts
from rationalize.reporting.plots import line_chart, ticks

numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 6))


@given(numbers, numbers)
def test_ticks_enclose_the_range_and_stay_few(one, other):
    low, high = sorted((one, other))
    found = ticks(low, high)
    slack = 1e-6 * max(1.0, abs(low), abs(high))
    assert found[0] <= low + slack
    assert found[-1] >= high - slack
    assert 2 <= len(found) <= 7
    assert found == sorted(set(found))


def test_a_missing_value_breaks_the_line_and_nothing_else():
    chart = ElementTree.fromstring(
        line_chart({"a": [(1, 0.1), (2, 0.2), (3, None), (4, math.nan), (5, 0.3), (6, 0.4)]}, title="F1")
    )
    assert len(list(chart.iter("polyline"))) == 2
    assert len(list(chart.iter("circle"))) == 4 + 1  # the last is in the key


def test_one_point_and_no_point():
    assert "polyline" not in line_chart({"a": [(1, 0.5)]}, title="F1")
    assert line_chart({"a": [(1, None)]}, title="F1") == ""
    assert line_chart({}, title="F1") == ""


def test_series_differ_by_more_than_colour():
    series = {name: [(1, 0.1), (2, 0.2)] for name in "abcdefgh"}
    lines = list(ElementTree.fromstring(line_chart(series, title="F1")).iter("polyline"))
    assert len({line.get("stroke-dasharray") for line in lines}) == 8


def test_names_are_escaped_and_the_chart_speaks():
    chart = ElementTree.fromstring(line_chart({'<b>"&': [(1, 0.25)]}, title="<i>"))
    assert chart.find("svg").get("aria-label") == '<i> by epoch. Last values: <b>"& 25'
    assert chart.find("svg").get("role") == "img"


def test_curves_have_a_chart_per_dev_score_and_per_phase():
    rows = [
        {"step": 5, "phase": "supervised", "losses": {"task": 9.0}},
        {
            "epoch": 0,
            "dev": {"task_f1": 0.5, "token_f1": 0.2},
            "losses": {"supervised.task": 1.0, "rest.play.task": 2.0},
        },
        {"epoch": 1, "dev": {"task_f1": 0.6}, "losses": {"supervised.task": 0.5, "rest.play.task": 1.0}},
    ]
    charts = [ElementTree.fromstring(chart) for chart in curve_charts({"a": rows, "b": rows[:2]})]
    assert [chart.find("figcaption").text for chart in charts] == [
        "Dev: task F1, %", "Dev: token F1 (ERASER), %",
        "Losses: a, supervised", "Losses: a, rest", "Losses: b, supervised", "Losses: b, rest",
    ]  # fmt: skip
    assert len(list(charts[0].iter("li"))) == 2
