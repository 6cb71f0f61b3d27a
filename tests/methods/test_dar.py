"""DAR: the teacher learns first, then judges: no weight of it moves, no noise, and yet it teaches."""

from __future__ import annotations

import pytest
import torch
from games import gradients, movers, reaches, turn_losses
from torch.nn import functional as F

from helpers import tiny_model


@pytest.fixture
def method():
    return tiny_model("dar").method


def test_the_teacher_learns_first_and_is_the_same_bits_ever_after(tmp_path):
    method = tiny_model("dar", pretrain=2).method
    steps = movers(method, tmp_path, n=3, epochs=2)
    assert steps == [("pretrain", {"teacher"})] * 6 + [("unsupervised", {"model"})] * 6


def test_the_teacher_teaches_the_selector_and_nobody_else(method, batch):
    teacher = turn_losses(method, "play", batch)["teacher"]
    net = method.net
    assert reaches(teacher, net.select_head.parameters())
    assert reaches(teacher, net.encoder.parameters())
    assert not reaches(teacher, net.class_head.parameters())
    assert not reaches(teacher, method.teacher.parameters())


def test_teacher_and_predictor_see_the_same_mask(method, batch):
    """With the predictor's weights, the teacher has the predictor's loss."""
    method.teacher.encoder.load_state_dict(method.net.encoder.state_dict())
    method.teacher.head.load_state_dict(method.net.class_head.state_dict())
    parts = turn_losses(method, "play", batch)
    torch.testing.assert_close(parts["teacher"], parts["task"])


@pytest.mark.parametrize("encoder", ["tiny", "gru"])
def test_the_teacher_judges_without_noise(batch, encoder):
    method = tiny_model("dar", encoder={"name": encoder, "dropout": 0.5}).method.train()
    seen = []
    original = method.teacher.predict

    def spy(batch, mask):
        seen.append(
            [each.training for each in method.teacher.modules() if isinstance(each, torch.nn.Dropout)]
        )
        first, second = original(batch, mask), original(batch, mask)
        assert torch.equal(first, second)
        return first

    method.teacher.predict = spy
    turn_losses(method, "play", batch)
    assert seen
    assert not any(seen[0])
    assert all(each.training for each in method.teacher.modules())


def test_pretraining_is_on_the_full_text(method, batch):
    expected = F.cross_entropy(method.teacher.read(batch), batch.labels)
    torch.testing.assert_close(turn_losses(method, "teach", batch)["task"], expected)


def test_without_the_teacher_it_is_un_rat(batch):
    """The other parts and their gradients are those of the same net without a teacher."""
    plain, aligned = tiny_model("un_rat").method, tiny_model("dar").method
    aligned.net.load_state_dict(plain.net.state_dict())
    one, other = turn_losses(plain, "play", batch), turn_losses(aligned, "play", batch)
    assert other.keys() - one.keys() == {"teacher"}
    for part in one:
        torch.testing.assert_close(one[part], other[part])
        pairs = zip(
            gradients(one[part], list(plain.net.parameters())),
            gradients(other[part], list(aligned.net.parameters())),
            strict=True,
        )
        for left, right in pairs:
            torch.testing.assert_close(left, right)


@torch.no_grad()
def test_the_label_is_the_predictors_and_the_full_text_the_teachers(method, batch):
    output = method.explain(batch)
    assert torch.equal(output.full_text, method.teacher.read(batch))
    torch.testing.assert_close(output.logits, method.net.predict(batch, output.mask))
