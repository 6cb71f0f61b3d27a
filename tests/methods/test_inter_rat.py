"""Inter-RAT: classes weighted by how common they are, on both sides, and remembered."""

from __future__ import annotations

import pytest
import torch
from games import reaches
from torch.testing import assert_close

from helpers import Listener, tiny_corpus, tiny_model, tiny_run
from rationalize.methods.inter_rat.intervention import average_selected, intervene
from rationalize.runs.model_folder import load_model
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data


def test_the_intervention_is_the_weighted_sum_over_classes():
    generator = torch.Generator().manual_seed(0)
    keys, labels = (
        torch.randn(*shape, 5, generator=generator, dtype=torch.float64) for shape in ((2, 4), (3,))
    )
    prior = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)
    found = intervene(keys, labels, prior)
    for row in range(2):
        for piece in range(4):
            scores = [(keys[row, piece] * label).sum().exp() for label in labels]
            by_hand = sum(
                p * s / sum(scores) * label for p, s, label in zip(prior, scores, labels, strict=True)
            )
            assert_close(found[row, piece], by_hand)


def test_one_class_for_sure_is_that_class_alone():
    labels = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    found = intervene(torch.zeros(1, 2), labels, torch.tensor([1.0, 0.0]))
    assert_close(found, torch.tensor([[1.0, 0.0]]))  # half of the attention, all of the prior


def test_the_prior_is_counted_and_saved(tmp_path):
    corpus = tiny_corpus(20)
    skewed = [example for index, example in enumerate(corpus[:16]) if example.label == "POS" or index < 4]
    config = tiny_run("inter_rat", training={"epochs": 1, "batch_size": 4})
    model = train(config, make_training_data(config, skewed, corpus[16:]), tmp_path / "run", Listener())
    assert_close(model.method.net.prior, torch.tensor([0.2, 0.8]))
    assert_close(load_model(tmp_path / "run").method.net.prior, torch.tensor([0.2, 0.8]))


@torch.no_grad()
def test_the_prior_decides_on_both_sides(batch):
    method = tiny_model("inter_rat").method
    assert_close(method.net.prior, torch.tensor([0.5, 0.5]))
    select, classes = method.net.read(batch)
    method.see_labels(torch.tensor([0, 1, 1, 1]))
    select_then, classes_then = method.net.read(batch)
    assert not torch.equal(select, select_then)
    assert not torch.equal(classes, classes_then)


def test_labels_are_embedded_once_for_both_and_projected_for_one(batch):
    method = tiny_model("inter_rat", selection={"shared_encoder": False}).method
    selector, predictor = (
        method.net.select(batch).square().sum(),
        method.net.predict(batch, batch.selectable).sum(),
    )
    assert reaches(selector, [method.net.labels])
    assert reaches(predictor, [method.net.labels])
    assert reaches(selector, [method.net.project.weight])
    assert not reaches(predictor, [method.net.project.weight])


@pytest.mark.parametrize("vector", ["pooled", "selected"])
@torch.no_grad()
def test_either_vector_is_finite_when_nothing_is_selected(batch, vector):
    method = tiny_model("inter_rat", vector=vector).method
    nothing = method.label_from_mask(batch, torch.zeros_like(batch.selectable))
    assert nothing.isfinite().all()
    assert not torch.equal(nothing, method.label_from_mask(batch, batch.selectable))


def test_only_selected_pieces_are_averaged():
    hidden = torch.tensor([[[1.0], [2.0], [6.0]], [[1.0], [2.0], [6.0]]])
    mask = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    assert_close(average_selected(hidden, mask), torch.tensor([[3.5], [0.0]]))
