"""ST-RAT: a teacher that stands still for a round, pseudo rationales that count as much as it is sure of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from contract import losses_of, turns_of, without_gold
from torch.autograd import grad
from torch.nn import functional as F

from helpers import Listener, tiny_corpus, tiny_model, tiny_run
from rationalize.methods.st_rat import STRAT
from rationalize.models.losses import uniform_kl
from rationalize.models.weights import collect_weights
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data


def turn_of(method, name):
    return next(turn for phase, turn in turns_of(method) if phase.name == name)


def losses(method, batch, name="pseudo"):
    return losses_of(method, turn_of(method, name), batch)


def taught(**options):
    """A method whose teacher is of another opinion than the network."""
    method = tiny_model("st_rat", **options).method
    method.teacher.load_state_dict(tiny_model("st_rat", seed=9).method.net.state_dict())
    return method


def weights(module):
    return torch.cat([tensor.flatten() for tensor in collect_weights(module).values()])


def test_the_teacher_stands_still_for_a_round_and_then_follows(tmp_path, monkeypatch):
    """Around every step: the teacher is the network as it was when the round began."""
    rounds = []
    begin, run = STRAT.begin_epoch, STRAT.forward

    def begins(self, epoch):
        begin(self, epoch)
        rounds.append((epoch, weights(self.net), []))

    def runs(self, turn, batch, generator):
        rounds[-1][2].append((turn.name, weights(self.teacher), weights(self.net)))
        return run(self, turn, batch, generator)

    monkeypatch.setattr(STRAT, "begin_epoch", begins)
    monkeypatch.setattr(STRAT, "forward", runs)
    corpus = tiny_corpus(24)
    training = {"epochs": 2, "batch_size": 4}
    config = tiny_run("st_rat", training=training, data={"gold_share": 0.5}, options={"teacher_epochs": 1})
    train(config, make_training_data(config, corpus[:16], corpus[16:]), tmp_path / "run", Listener())
    assert [epoch for epoch, _, _ in rounds] == [0, 1, 2]
    assert [name for name, _, _ in rounds[0][2]] == ["learn"] * 2
    for _, at_start, steps in rounds[1:]:
        assert [name for name, _, _ in steps] == ["imitate"] * 2 + ["tune"] * 2
        assert all(torch.equal(teacher, at_start) for _, teacher, _ in steps)
        assert not torch.equal(steps[-1][2], at_start)
    assert not torch.equal(rounds[1][1], rounds[2][1])


def test_the_teacher_is_no_player():
    method = tiny_model("st_rat").method
    assert not any(parameter.requires_grad for parameter in method.teacher.parameters())
    players = {id(parameter) for parameter in method.players()["model"]}
    assert players == {id(parameter) for parameter in method.parameters() if parameter.requires_grad}


def test_the_teacher_does_not_drop_out(batch):
    method = taught().train()
    first, second = method.teach(batch), method.teach(batch)
    assert torch.equal(first.piece_weights, second.piece_weights)
    assert method.net.training


@torch.no_grad()
def test_confidence_by_hand(batch):
    method = taught(pseudo_labels=True, selection={"whole_words": False})
    lesson = method.teach(batch)
    select_logits, class_logits = method.teacher.read(batch)
    for row in range(len(batch)):
        chances = class_logits[row].exp() / class_logits[row].exp().sum()
        assert lesson.labels[row] == chances.argmax()
        assert lesson.label_weights[row].item() == pytest.approx(chances.max().item(), rel=1e-5)
        for at in batch.selectable[row].nonzero().squeeze(1):
            leave, take = select_logits[row, at].tolist()
            chance = torch.tensor(take - leave).sigmoid().item()
            assert lesson.piece_weights[row, at].item() == pytest.approx(max(chance, 1 - chance), rel=1e-4)
            assert lesson.mask[row, at] == (take > leave)


@torch.no_grad()
def test_true_labels_are_kept_and_count_fully(batch):
    lesson = taught().teach(batch)
    assert torch.equal(lesson.labels, batch.labels)
    assert lesson.label_weights.tolist() == [1.0] * len(batch)


@pytest.mark.parametrize("pseudo_labels", [False, True])
@torch.no_grad()
def test_the_pseudo_objective_by_hand(batch, pseudo_labels):
    """Every part written out over rows and pieces."""
    method = taught(pseudo_labels=pseudo_labels)
    labels, w, mask, v = method.teach(batch)
    assert mask.any(-1).all()
    parts = losses(method, batch)
    select_logits, class_logits = method.net.read(batch)
    chance = select_logits.softmax(-1)[..., 1]
    sums = {"select": [], "length": [], "continuity": []}
    for row, here in enumerate(batch.selectable):
        places = here.nonzero().squeeze(1).tolist()
        for index, at in enumerate(places):
            right = chance[row, at] if mask[row, at] else 1 - chance[row, at]
            sums["select"].append(-v[row, at] * right.log())
            sums["length"].append(v[row, at] * chance[row, at])
            if index:
                sums["continuity"].append(v[row, at] * (chance[row, at] - chance[row, at - 1]).abs())
    for part, values in sums.items():
        torch.testing.assert_close(parts[part], torch.stack(values).mean())
    for part, logits in (("task", class_logits), ("rationale", method.label_from_mask(batch, mask))):
        costs = [w[row] * F.cross_entropy(logits[row], labels[row]) for row in range(len(batch))]
        torch.testing.assert_close(parts[part], torch.stack(costs).mean())
    rest = method.complement_head(method._pool(batch, batch.selectable & ~mask))
    torch.testing.assert_close(parts["complement"], uniform_kl(rest))


def test_each_head_has_its_own_lesson(batch):
    method = taught()
    heads = {
        "task": method.net.class_head,
        "select": method.net.select_head,
        "rationale": method.rationale_head,
        "complement": method.complement_head,
    }
    parts = losses(method, batch)
    for part, own in heads.items():
        for head in heads.values():
            [gradient] = grad(parts[part], [head.weight], allow_unused=True, retain_graph=True)
            assert (gradient is not None and bool(gradient.any())) == (head is own)


def test_what_the_teacher_does_not_mark_is_no_lesson(batch):
    method = taught()
    with torch.no_grad():
        method.teacher.select_head.bias.copy_(torch.tensor([50.0, 0.0]))
    assert losses(method, batch).keys() == {"task"}
    with torch.no_grad():
        method.teacher.select_head.bias.copy_(torch.tensor([0.0, 50.0]))
    assert "complement" not in losses(method, batch)


def test_indecision_is_asked_only_where_something_was_taken_out(batch, monkeypatch):
    """A text of which the teacher marks nothing is its own complement, and has a label."""
    method = taught()
    lesson = method.teach(batch)
    mask = lesson.mask.clone()
    mask[:2] = False
    monkeypatch.setattr(method, "teach", lambda some: lesson._replace(mask=mask))
    found = losses(method, batch)["complement"]
    rest = batch.rows(slice(2, 6))
    left = method._pool(rest, rest.selectable & ~mask[2:])
    torch.testing.assert_close(found, uniform_kl(method.complement_head(left)))


@pytest.mark.parametrize("decoding", ["argmax", "topk", "span"])
def test_the_teachers_mask_is_what_it_holds_likelier_however_masks_are_shown(batch, decoding):
    lesson = taught(selection={"decoding": decoding, "whole_words": False}).teach(batch)
    taught_by_argmax = taught(selection={"decoding": "argmax", "whole_words": False}).teach(batch)
    assert torch.equal(lesson.mask, taught_by_argmax.mask)


def test_gold_is_tuned_on_and_no_teacher_is_asked(batch):
    method = taught()
    parts = losses(method, batch, "tune")
    assert parts.keys() == {"task", "select", "rationale"}
    gold = F.cross_entropy(method.label_from_mask(batch, batch.gold), batch.labels)
    torch.testing.assert_close(parts["rationale"], gold)
    assert losses(method, batch, "teacher").keys() == {"task", "select"}
    assert losses(method, without_gold(batch), "tune").keys() == {"task"}
    blank = torch.cat([torch.zeros_like(batch.gold[:2]), batch.gold[2:]])
    half = replace(batch, gold=blank, has_gold=blank.any(-1))
    alone = losses(method, half.rows(slice(2, 6)), "tune")["rationale"]
    torch.testing.assert_close(losses(method, half, "tune")["rationale"], alone)


@torch.no_grad()
def test_the_label_may_come_from_the_rationale_and_is_then_faithful(batch):
    by_text, by_rationale = (
        tiny_model("st_rat", label_from=source).method for source in ("full_text", "rationale")
    )
    said, instead = by_text.explain(batch), by_rationale.explain(batch)
    assert (by_text.faithful, by_rationale.faithful) == (False, True)
    assert torch.equal(said.logits, said.full_text)
    assert torch.equal(instead.logits, instead.rationale)
    assert torch.equal(instead.rationale, by_rationale.label_from_mask(batch, instead.mask))
