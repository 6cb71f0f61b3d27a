"""SSR_plus is Semi-RAT with copies that it asks for itself."""

from __future__ import annotations

import pytest
import torch

from helpers import Listener, tiny_corpus, tiny_run
from rationalize.runs.run import train
from rationalize.runs.settings import resolve_config
from rationalize.runs.training_data import make_training_data


@pytest.mark.parametrize(
    ("method", "augment", "kind"),
    [
        ("ssr_plus", {}, "counterfactual"),
        ("ssr_plus", {"share": 0.5}, "counterfactual"),
        ("ssr_plus", {"kind": "none"}, "none"),
        ("semi_rat", {}, "none"),
    ],
)
def test_the_copies_are_the_methods_own_unless_the_run_says_otherwise(method, augment, kind):
    config = tiny_run(method, augment=augment)
    assert config.augment.kind == resolve_config(config).augment.kind == kind


def test_it_is_semi_rat_with_counterfactual_copies_to_the_bit(tmp_path):
    def learn(method: str, **settings):
        config = tiny_run(method, training={"epochs": 2, "batch_size": 8}, **settings)
        data = make_training_data(config, tiny_corpus(24), tiny_corpus(8, seed=1))
        return train(config, data, tmp_path / method, Listener()).method.state_dict()

    own, same = learn("ssr_plus"), learn("semi_rat", augment={"kind": "counterfactual"})
    assert own.keys() == same.keys()
    assert all(torch.equal(own[name], same[name]) for name in own)
