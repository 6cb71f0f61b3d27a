from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rationalize.reporting.plots import choose_ticks, draw_chart, draw_chart_svg, draw_training

numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 6))


@given(numbers, numbers)
def test_ticks_enclose_the_range_and_stay_few(one, other):
    low, high = sorted((one, other))
    found = choose_ticks(low, high)
    slack = 1e-6 * max(1.0, abs(low), abs(high))
    assert found[0] <= low + slack
    assert found[-1] >= high - slack
    assert 2 <= len(found) <= 7
    assert found == sorted(set(found))


def test_a_missing_value_breaks_the_line_and_nothing_else():
    chart = ElementTree.fromstring(
        draw_chart({"a": [(1, 0.1), (2, 0.2), (3, None), (4, math.nan), (5, 0.3), (6, 0.4)]}, title="F1")
    )
    assert len(list(chart.iter("polyline"))) == 2
    assert len(list(chart.iter("circle"))) == 4 + 1  # the last is in the key


def test_one_point_and_no_point():
    assert "polyline" not in draw_chart({"a": [(1, 0.5)]}, title="F1")
    assert draw_chart({"a": [(1, None)]}, title="F1") == ""
    assert draw_chart({}, title="F1") == ""


def test_series_differ_by_more_than_color():
    series = {name: [(1, 0.1), (2, 0.2)] for name in "abcdefgh"}
    lines = list(ElementTree.fromstring(draw_chart(series, title="F1")).iter("polyline"))
    assert len({line.get("stroke-dasharray") for line in lines}) == 8


def test_names_are_escaped_and_the_chart_speaks():
    chart = ElementTree.fromstring(draw_chart({'<b>"&': [(1, 0.25)]}, title="<i>"))
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
    charts = [ElementTree.fromstring(chart) for chart in draw_training({"a": rows, "b": rows[:2]})]
    assert [chart.find("figcaption").text for chart in charts] == [
        "Dev: task F1, %", "Dev: token F1 (ERASER), %",
        "Losses: a, supervised", "Losses: a, rest", "Losses: b, supervised", "Losses: b, rest",
    ]  # fmt: skip
    assert len(list(charts[0].iter("li"))) == 2


def test_error_bars_reach_as_far_as_the_spread():
    series, spreads = {"a": [(1, 0.4), (2, 0.6), (3, None)]}, {"a": [0.1, None, 0.2]}
    chart = ElementTree.fromstring(draw_chart(series, title="F1", spreads=spreads))
    [bar] = [path.get("d") for path in chart.iter("path") if "V" in path.get("d")]
    circles = list(chart.find("svg").iter("circle"))
    low, high = float(bar.split("V")[0].split()[-1]), float(bar.split("V")[1])
    first, second = (float(circle.get("cy")) for circle in circles)
    # 0.4 ± 0.1 beside 0.6: the bar is as long as the two points are apart, and centerd on the lower one.
    assert low - high == pytest.approx(first - second, abs=0.2)
    assert (low + high) / 2 == pytest.approx(first, abs=0.2)


def test_a_chart_of_its_own_is_an_svg_file_with_its_key():
    svg = ElementTree.fromstring(
        draw_chart_svg({"<a>": [(1, 0.4), (2, 0.6)]}, title="F1 & more", x_title="x")
    )
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    texts = {text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {"<a>", "F1 & more", "x"} <= texts
    assert draw_chart_svg({}, title="F1", x_title="x") == ""
