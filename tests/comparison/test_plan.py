"""Plans: files, flags, and parts of a plan."""

from __future__ import annotations

import json

import pytest

from rationalize.comparison.plan import load_plan
from rationalize.errors import ConfigError

WHOLE = {
    "data": {"movies": "data/movies", "fever": "data/fever"},
    "methods": ["un_rat", {"name": "mild", "method": "ssr_unif", "set": {"options.weight": 0.1}}],
    "baseline": "un_rat",
    "transfer": {
        "sst2": {"path": "data/sst2", "learned_from": "movies"},
        "any": {"path": "data/any"},
    },
}


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps(WHOLE))
    return path


def test_a_part_of_a_plan_is_chosen_by_names(plan):
    part = load_plan(plan, {"methods": ["mild", "car"], "data": {"fever": None}})
    assert part.data == {"fever": "data/fever"}
    assert [(each.name, each.method, each.set) for each in part.entries] == [
        ("mild", "ssr_unif", {"options.weight": 0.1}),
        ("car", "car", {}),
    ]
    assert part.baseline is None, "it was left out; the first is tested against"
    assert set(part.transfer) == {"any"}, "SST-2 is scored by models of Movies, which were left out"


def test_the_rest_of_a_plan_stays(plan):
    part = load_plan(plan, {"methods": ["mild", "un_rat"], "data": {"movies": "elsewhere/movies"}})
    assert part.data == {"movies": "elsewhere/movies"}
    assert part.baseline == "un_rat"
    assert set(part.transfer) == {"sst2", "any"}


@pytest.mark.parametrize(
    ("change", "flags", "says"),
    [
        ({}, {"data": {"boolq": None}}, "The plan has: movies, fever"),
        ({"baseline": "nobody"}, {"methods": ["mild"]}, "baseline 'nobody'"),
        (
            {"transfer": {"sst2": {"path": "sst2", "learned_from": "movie"}}},
            {"data": {"fever": None}},
            "'movie' is not",
        ),
        ({"methods": "un_rat"}, {}, "methods"),
        ({"methods": [["un_rat"]], "baseline": ["car"]}, {"methods": ["un_rat"]}, "baseline"),
        ({"data": ["movies"]}, {"data": {"movies": None}}, "no path"),
    ],
)
def test_mistakes_are_not_taken_for_what_was_left_out(plan, change, flags, says):
    plan.write_text(json.dumps(WHOLE | change))
    with pytest.raises(ConfigError, match=says):
        load_plan(plan, flags)
