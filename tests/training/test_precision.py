"""Training in half precision."""

from __future__ import annotations

import torch
from toys import trainer

from helpers import tiny_model


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
