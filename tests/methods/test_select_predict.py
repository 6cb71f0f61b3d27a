"""What selector and predictor methods share: one explanation, one place that says which reading decides."""

from __future__ import annotations

import inspect

import pytest
import torch

from helpers import tiny_batch, tiny_corpus, tiny_model
from rationalize.methods.registry import list_names, method_class
from rationalize.methods.select_predict import SelectionGame, SelectPredict

SIBLINGS = [name for name in list_names() if issubclass(method_class(name), SelectPredict)]


@pytest.mark.parametrize("name", SIBLINGS)
def test_siblings_explain_by_the_one_explanation(name):
    cls = method_class(name)
    assert cls.explain is SelectPredict.explain
    assert (
        cls.label_from_mask is SelectPredict.label_from_mask or name == "st_rat"
    )  # it has a head for rationales


def test_no_two_siblings_weigh_their_losses_by_the_same_lines():
    own = [vars(method_class(name)).get("weights") for name in SIBLINGS]
    bodies = [inspect.getsource(each) for each in own if each is not None]
    assert len(bodies) == len(set(bodies))


@pytest.mark.parametrize("name", ["semi_rat", "ssr_virt", "st_rat"])
@torch.no_grad()
def test_the_label_comes_from_where_the_setting_says(name):
    batch = tiny_batch(tiny_corpus(6))
    for source in ("rationale", "full_text"):
        method = tiny_model(name, label_from=source).method
        output = method.explain(batch)
        assert method.faithful == (source == "rationale")
        assert torch.equal(output.logits, getattr(output, source))
        assert not torch.equal(output.rationale, output.full_text)


def test_vanilla_rationalization_is_the_game_itself():
    cls = method_class("un_rat")
    assert cls.mro()[1] is SelectionGame
    assert not {name for name in vars(cls) if callable(getattr(cls, name)) and not name.startswith("_")}
