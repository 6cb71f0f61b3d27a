"""CAR: who argues for what, who is believed, and which class's rationale is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from games import movers, reaches, turn_losses
from torch.testing import assert_close

from helpers import tiny_model

LABELS = ("A", "B", "C")


@pytest.fixture
def method():
    return tiny_model("car", labels=LABELS).method


def test_judge_and_advocates_move_in_turn_on_every_batch(method, batch, tmp_path):
    assert movers(method, tmp_path, n=3) == [("game", {"selectors", "discriminator"})] * 3
    task, players = turn_losses(method, "judge", batch)["task"], method.players()
    assert reaches(task, players["discriminator"])
    assert not reaches(task, players["selectors"])
    assert reaches(turn_losses(method, "argue", batch)["argument"], players["selectors"])


def test_every_class_is_argued_for(method, batch):
    generator = torch.Generator().manual_seed(0)
    paths = method._assign_paths(batch, generator)
    assert sorted(paths.tolist()) == [0, 0, 1, 1, 2, 2]
    alone = {int(method._assign_paths(batch.rows(slice(0, 1)), generator)) for _ in range(40)}
    assert alone == {0, 1, 2}, "a batch of one text would leave a selector untaught"


@pytest.mark.parametrize("argument", ["probability", "log"])
def test_losses_are_of_the_path_whatever_the_label(batch, argument, monkeypatch):
    """Discriminator: the true class on the path; selectors: the path's own class."""
    method = tiny_model("car", labels=LABELS, argument=argument).method
    chances = torch.rand(len(batch), 3, 3, generator=torch.Generator().manual_seed(1)) + 0.1
    chances = chances / chances.sum(-1, keepdim=True)
    monkeypatch.setattr(method, "judge", lambda batch, mask: chances.log() + 0 * mask.sum())
    paths = torch.tensor([0, 1, 2, 2, 1, 0])
    monkeypatch.setattr(method, "_assign_paths", lambda batch, generator: paths)
    rows = list(zip(range(6), paths.tolist(), batch.labels.tolist(), strict=True))
    judged = torch.stack([-chances[row, path, label].log() for row, path, label in rows]).mean()
    assert_close(turn_losses(method, "judge", batch)["task"], judged)
    believed = torch.stack([chances[row, path, path] for row, path, _ in rows])
    wanted = believed if argument == "probability" else believed.log()
    assert_close(turn_losses(method, "argue", batch)["argument"], -wanted.mean())


@torch.no_grad()
def test_a_selector_is_told_the_label_and_has_a_head_of_its_own(method, batch):
    hidden = method.selectors.read(batch)

    def select(path, told):
        return method.selectors.select(hidden, torch.full((6,), path), torch.full((6,), told))

    factual, counterfactual, other = select(0, 0), select(0, 1), select(1, 0)
    assert not torch.equal(factual, counterfactual)
    assert not torch.equal(factual, other)
    shift = (counterfactual - factual)[batch.selectable]
    assert shift.std(0).min() > 1e-6, "the label must change which pieces are wanted, not just how many"
    mixed = method.selectors.select(hidden, torch.tensor([0, 1] * 3), torch.tensor([0, 0] * 3))
    assert_close(mixed[0::2], factual[0::2])
    assert_close(mixed[1::2], other[1::2])


@torch.no_grad()
def test_the_label_is_the_class_that_is_believed_most_and_the_words_are_its_own(method, batch, monkeypatch):
    """Class 2's rationale is believed for rows 0 and 1, class 1's for the others."""
    earned = torch.tensor([[0.2, 0.3, 0.4]] * 2 + [[0.2, 0.9, 0.4]] * 4)
    asked = []

    def judged(batch, mask):
        """On its own path, each class earns the above; being shown class t's words, other classes earn more."""
        verdict = torch.full((6, 3), 0.95)
        verdict[:, len(asked) % 3] = earned[:, len(asked) % 3]
        asked.append(mask)
        return verdict.log()

    monkeypatch.setattr(method, "label_from_mask", judged)
    output = method.explain(batch)
    assert output.logits.argmax(-1).tolist() == [2, 2, 1, 1, 1, 1]
    assert_close(output.logits.exp(), earned)
    for row, label in enumerate([2, 2, 1, 1, 1, 1]):
        assert torch.equal(output.mask[row], asked[label][row])
    assert_close(output.rationale[0].exp(), torch.tensor([0.95, 0.95, 0.4]))


@torch.no_grad()
def test_the_oracle_shows_the_true_class_and_only_it_looks_at_labels(method, batch):
    by_class = method.explain_classes(batch)
    assert any(not torch.equal(by_class[0].scores, each.scores) for each in by_class[1:])
    labels = torch.tensor([0, 1, 2, 0, 1, 2])
    oracle = method.explain_oracle(replace(batch, labels=labels))
    for row, label in enumerate(labels.tolist()):
        assert torch.equal(oracle.scores[row], by_class[label].scores[row])
    plain = method.explain(batch)
    assert torch.equal(oracle.logits, plain.logits)
    assert not method.faithful


@torch.no_grad()
def test_a_reading_of_a_mask_is_the_belief_in_each_class_on_its_path(method, batch):
    verdict = method.judge(batch, batch.selectable)
    assert_close(verdict.exp().sum(-1), torch.ones(6, 3))
    reading = method.label_from_mask(batch, batch.selectable)
    assert_close(reading, torch.stack([verdict[:, path, path] for path in range(3)], -1))
