"""How many layers an encoder has is known before it is loaded; settings that count more are refused."""

from __future__ import annotations

import pytest

from helpers import tiny_encoders
from local_encoders import save_local
from rationalize.config import EncoderConfig
from rationalize.errors import EncoderError
from rationalize.models.depth import check_depth, find_depth
from rationalize.models.rationale_net import RationaleNet


@pytest.mark.parametrize(
    ("settings", "depth"),
    [
        ({"name": "tiny", "layers": 3}, 3),
        ({"name": "gru", "layers": 3}, None),
        ({"name": "minilm"}, 6),
        ({"name": "minilm", "keep_layers": 4}, 4),
    ],
)
def test_the_depth_is_that_of_the_encoder_that_is_made(settings, depth):
    assert find_depth(EncoderConfig(**settings)) == depth
    if "minilm" not in settings.values():
        assert tiny_encoders(**settings).make().depth == depth


def test_other_architectures_are_read_as_a_whole(tmp_path):
    save_local("gpt2", tmp_path)
    assert find_depth(EncoderConfig(name=str(tmp_path))) is None
    with pytest.raises(EncoderError, match="could not be loaded"):
        find_depth(EncoderConfig(name=str(tmp_path / "nothing")))


def test_what_cannot_be_counted_is_refused_by_its_field():
    assert check_depth(3, 3, "tiny", "training.freeze_layers") == 3
    with pytest.raises(
        EncoderError, match=r"training\.freeze_layers is 4, but tiny has 3 layers\. Set .* to 3"
    ):
        check_depth(4, 3, "tiny", "training.freeze_layers")


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("encoder", "message"), [("gru", "of gru cannot be read one by one"), ("tiny", "tiny has 1 layers")]
)
def test_a_net_says_which_setting_its_encoder_cannot_follow(shared, encoder, message):
    with pytest.raises(EncoderError, match=message) as caught:
        RationaleNet(tiny_encoders(name=encoder), 2, shared=shared, layers=2)
    assert caught.value.fields == ("options.selection.layers",)
