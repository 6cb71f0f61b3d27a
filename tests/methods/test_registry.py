"""What a class has to be to become a method, and what is asked only of those who can answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rationalize.errors import ConfigError
from rationalize.methods import hooks
from rationalize.methods.base import Method
from rationalize.methods.registry import list_names, method_class, register
from rationalize.methods.un_rat import UnRAT

ANSWERS = {
    "Prepares": {"at_bmc", "invrat"},
    "HearsLabels": {"inter_rat"},
    "HearsEpochs": {"st_rat"},
    "DecidesAlone": set(list_names()) - {"car", "ib", "ib_semi", "pipeline", "three_player"},
    "KnowsOracle": {"car"},
}


@pytest.mark.parametrize("hook", ANSWERS)
def test_a_hook_is_asked_of_those_who_have_it_and_not_in_the_base(hook):
    kind = getattr(hooks, hook)
    [function] = [name for name in vars(kind) if not name.startswith("_")]
    assert not hasattr(Method, function)
    assert {name for name in list_names() if issubclass(method_class(name), kind)} == ANSWERS[hook]


def test_an_unknown_method_is_an_error_that_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"'un_rad' is unknown\. Known: .*un_rat"):
        method_class("un_rad")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": "Un-RAT"}, "expected lower-case letters"),
        ({}, "already a method called 'un_rat'"),
    ],
)
def test_what_cannot_be_a_method_is_refused(changes, problem):
    with pytest.raises(ValueError, match=problem):
        register(replace(UnRAT.about, **changes))(type("Other", (UnRAT,), {}))
    assert method_class("un_rat") is UnRAT
