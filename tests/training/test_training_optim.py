"""Who is moved, how fast, and that a frozen player is frozen for real."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from toys import Toy, trainer

from helpers import tiny_model
from rationalize.config import TrainingConfig
from rationalize.errors import EncoderError
from rationalize.training.optim import Players, compute_rate_factor

CONFIG = TrainingConfig(learning_rate=0.1, head_learning_rate=None, weight_decay=0.5)


@given(st.integers(1, 400), st.floats(0, 1))
def test_the_rate_rises_to_one_and_falls_towards_zero(total, warmup):
    factors = [compute_rate_factor(step, total, warmup) for step in range(total)]
    top = factors.index(max(factors))
    assert max(factors) == 1
    assert factors[: top + 1] == sorted(factors[: top + 1])
    assert factors[top:] == sorted(factors[top:], reverse=True)
    assert min(factors) > 0
    assert compute_rate_factor(total, total, warmup) == 0


def test_the_rate_has_its_closed_form():
    assert [compute_rate_factor(step, 10, 0.2) for step in range(11)] == [
        0.5,
        *(x / 8 for x in (8, *range(8, -1, -1))),
    ]
    assert [compute_rate_factor(step, 4, 0.0) for step in range(5)] == [1, 0.75, 0.5, 0.25, 0]
    assert [compute_rate_factor(step, 4, 1.0) for step in range(4)] == [0.25, 0.5, 0.75, 1]


def move(method, players, moves, factor=1.0):
    with players.unfreeze_only(moves):
        (method.left.sum() + 2 * method.right.sum()).backward()
        gradients = (method.left.grad is not None, method.right.grad is not None)
        players.step(moves, factor)
    return gradients


def test_who_is_not_in_the_turn_keeps_every_bit():
    method = Toy()
    players = Players(method, CONFIG)
    move(method, players, ("left", "right"))  # now right has momentum, and AdamW would decay it
    right, before = method.right.detach().clone(), method.left.detach().clone()
    momentum = {
        name: value.clone() for name, value in players.state_dict().items() if name.startswith("right")
    }
    assert move(method, players, ("left",)) == (True, False)
    assert torch.equal(method.right, right)
    assert not torch.equal(method.left, before)
    assert momentum
    assert all(torch.equal(value, players.state_dict()[name]) for name, value in momentum.items())
    assert method.left.grad is None
    assert method.right.requires_grad


def test_what_the_method_itself_froze_stays_frozen():
    method = Toy()
    method.right.requires_grad_(False)
    players = Players(method, CONFIG)
    with players.unfreeze_only(("left",)):
        pass
    assert not method.right.requires_grad


def test_players_are_thawed_after_an_error():
    method = Toy()
    players = Players(method, CONFIG)
    try:
        with players.unfreeze_only(("left",)):
            raise KeyError
    except KeyError:
        pass
    assert method.right.requires_grad


def test_the_factor_scales_the_step():
    steps = []
    for factor in (1.0, 0.25):
        method = Toy()
        before = method.left.detach().clone()
        move(method, Players(method, TrainingConfig(learning_rate=0.1, weight_decay=0)), ("left",), factor)
        steps.append(before - method.left.detach())
    torch.testing.assert_close(steps[1], steps[0] / 4)


def test_heads_have_their_own_rate_and_norms_and_biases_do_not_decay():
    method = tiny_model("un_rat").method
    config = TrainingConfig(learning_rate=1e-4, head_learning_rate=1e-2, weight_decay=0.3)
    players = Players(method, config)
    settings = {
        players.names[id(parameter)]: (group["lr"], group["weight_decay"])
        for group in players.optimizers["model"].param_groups
        for parameter in group["params"]
    }
    assert settings.keys() == {name for name, _ in method.named_parameters()}
    for name, (rate, decay) in settings.items():
        assert rate == (1e-4 if ".model." in name else 1e-2), name
        assert decay == (0.0 if name.endswith("bias") or "LayerNorm" in name else 0.3), name
    assert {rate for rate, _ in settings.values()} == {1e-4, 1e-2}


def test_saved_and_put_back_the_optimizers_go_on_as_if_nothing_had_happened():
    one, other = Toy(), Toy()
    players, again = Players(one, CONFIG), Players(other, CONFIG)
    for _ in range(3):
        move(one, players, ("left", "right"))
    other.load_state_dict(one.state_dict())
    again.load_state_dict({name: value.clone() for name, value in players.state_dict().items()})
    for method, group in ((one, players), (other, again)):
        move(method, group, ("right",))
        move(method, group, ("left",))
    assert torch.equal(one.left, other.left)
    assert torch.equal(one.right, other.right)


def train_frozen(method, folder, layers):
    """Train two steps; returns the names of weights that changed, and the trainer."""
    before = {name: weight.clone() for name, weight in method.state_dict().items()}
    made = trainer(method, folder, n=4, freeze_layers=layers)
    made.run(resume=False)
    changed = {name for name, weight in method.state_dict().items() if not torch.equal(weight, before[name])}
    return changed, made


@pytest.mark.parametrize("shared", [True, False])
def test_frozen_layers_keep_every_bit_and_have_no_optimizer_state(tmp_path, shared):
    options = {"selection": {"shared_encoder": shared}}
    method = tiny_model("un_rat", encoder={"layers": 2}, **options).method
    changed, made = train_frozen(method, tmp_path, 1)
    lower = ("embeddings.", "encoder.layer.0.")
    assert changed
    assert not [name for name in changed if any(part in name for part in lower)]
    assert any("encoder.layer.1." in name for name in changed)
    moved = {key.split("|")[1] for key in made.players.state_dict()}
    assert moved == {name for name, weight in method.named_parameters() if weight.requires_grad}
    assert not [name for name in moved if any(part in name for part in lower)]


def test_the_frozen_part_of_a_full_text_keeps_nothing_for_a_gradient_but_that_of_a_soft_mask_does(batch):
    method = tiny_model("un_rat", encoder={"layers": 2}).method
    Players(method, CONFIG.model_copy(update={"freeze_layers": 1}))
    seen = []
    first = method.net.encoder.model.encoder.layer[0]
    first.register_forward_hook(lambda _, inputs, out: seen.append(out.requires_grad))
    mask = method.draw(batch, torch.Generator().manual_seed(0))
    method.task_loss(batch, mask).backward()
    assert seen == [False, True]
    assert method.net.select_head.weight.grad.any()


def test_a_shallow_selector_of_its_own_may_be_frozen_altogether(tmp_path):
    options = {"selection": {"shared_encoder": False, "layers": 1}}
    method = tiny_model("un_rat", encoder={"layers": 3}, **options).method
    changed, _ = train_frozen(method, tmp_path, 2)
    assert not [name for name in changed if "selector_encoder" in name]
    assert any("select_head" in name for name in changed)


def test_layers_of_an_encoder_without_any_cannot_be_frozen():
    with pytest.raises(EncoderError, match=r"training\.freeze_layers is 1, but the layers of gru"):
        Players(
            tiny_model("un_rat", encoder={"name": "gru"}).method,
            CONFIG.model_copy(update={"freeze_layers": 1}),
        )
