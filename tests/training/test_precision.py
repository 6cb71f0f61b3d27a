"""Training in half precision."""

from __future__ import annotations

from copy import deepcopy

import torch
from toys import trainer

from helpers import tiny_corpus, tiny_model


def test_layers_that_are_computed_again_round_again(tmp_path):
    """Else gradients would be those of other vectors than the loss saw."""

    def learn(name, **settings):
        method = tiny_model("un_rat", encoder={"hidden_size": 16, "dropout": 0.0}).method
        trainer(method, tmp_path / name, n=4, learning_rate=1e-3, precision="bf16", **settings).run(
            resume=False
        )
        return method.state_dict()

    kept, again = learn("kept"), learn("again", gradient_checkpointing=True)
    assert all(torch.equal(kept[name], again[name]) for name in kept)


def test_weights_that_a_step_moved_are_rounded_again_when_explaining(tmp_path):
    """The fused optimizer does not count its changes by itself."""
    model = tiny_model("un_rat")

    def explain():
        return [each.explanation for each in model.engine(precision="bf16").explain(tiny_corpus(4))]

    before = explain()
    trainer(model.method, tmp_path, n=4, learning_rate=0.1).run(resume=False)
    after = explain()
    assert after != before
    model.method.net.encoder.model = deepcopy(
        model.method.net.encoder.model
    )  # nobody has rounded its weights
    assert explain() == after
