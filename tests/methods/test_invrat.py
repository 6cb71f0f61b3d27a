"""INVRAT: one step for the selector, three for each predictor; the hinge; environments made once and reused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from contract import losses_of, turns_of
from games import movers, reaches, turn_losses
from torch.nn import functional as F
from torch.testing import assert_close

from helpers import Listener, tiny_corpus, tiny_model, tiny_run
from rationalize.errors import ConfigError
from rationalize.files import read_json
from rationalize.methods.invrat.environments import infer_environments, label_agreement, read_complements
from rationalize.methods.invrat.invrat import InvRAT
from rationalize.methods.invrat.kmeans import kmeans
from rationalize.runs._bench import RunBench
from rationalize.runs._workspace import Workspace
from rationalize.runs.preparation import prepare_data
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data

CYCLE = [{"selector"}, *[{"predictor"}] * 3, *[{"aware"}] * 3]


@pytest.fixture
def method():
    return tiny_model("invrat").method


def test_the_selector_moves_once_the_predictors_three_times(method, tmp_path):
    """The cycle goes on over the end of an epoch: 9 steps each, 7 to the cycle."""
    steps = movers(method, tmp_path, n=9, epochs=2)
    assert steps[:9] == [("pretrain", {"predictor"})] * 9
    assert [moved for _, moved in steps[9:]] == (CYCLE * 3)[:18]
    assert {phase for phase, _ in steps[9:]} == {"game"}


def test_the_length_of_the_cycle_can_be_chosen(tmp_path):
    method = tiny_model("invrat", predictor_turns=1, pretrain=0).method
    steps = [moved for _, moved in movers(method, tmp_path, n=4)]
    assert steps == [{"selector"}, {"predictor"}, {"aware"}, {"selector"}]


@pytest.mark.parametrize("right", [True, False], ids=["q_e knows", "q_e is wrong"])
def test_the_hinge_is_what_knowing_the_environment_would_save(method, batch, right, monkeypatch):
    certain = 60.0 * F.one_hot(batch.labels if right else 1 - batch.labels, 2)
    monkeypatch.setattr(method, "predict_aware", lambda batch, mask: certain + 0 * mask.sum())
    parts = turn_losses(method, "select", batch)
    assert parts["task"] > 0.1
    assert_close(parts["invariance"], parts["task"] if right else torch.tensor(0.0))
    assert reaches(parts["invariance"], method.players()["selector"]) is right


def test_the_selector_also_works_against_q_e(method, batch, monkeypatch):
    """∂(L_i - L_e): with an L_i that depends on nothing, what is left is the way through q_e."""
    wrong = 60.0 * F.one_hot(1 - batch.labels, 2)
    monkeypatch.setattr(method.net, "predict", lambda batch, mask: wrong)
    assert reaches(turn_losses(method, "select", batch)["invariance"], method.players()["selector"])


@pytest.mark.parametrize("head", ["hidden", "linear"])
@torch.no_grad()
def test_only_q_e_knows_the_environment(batch, head):
    method = tiny_model("invrat", environments=3, aware_head=head).method
    readings = [
        method.predict_aware(
            replace(batch, environments=torch.full((len(batch),), number)), batch.selectable.float()
        )
        for number in (-1, 0, 1, 2)
    ]
    assert torch.equal(readings[0], readings[1])  # none inferred: as the first
    assert not torch.equal(readings[1], readings[2])
    assert not torch.equal(readings[2], readings[3])
    shift = readings[2] - readings[1]
    assert torch.allclose(shift, shift[:1].expand_as(shift), atol=1e-6) is (head == "linear")


def test_predictors_take_the_rationale_as_given(method, batch):
    for name in ("predict_1", "aware_3"):
        [task] = turn_losses(method, name, batch).values()
        assert not reaches(task, method.players()["selector"])


def test_texts_without_an_environment_are_trained_on(method, batch):
    for _, turn in turns_of(method):
        assert all(part.isfinite() for part in losses_of(method, turn, batch).values())


def test_kmeans_finds_two_clouds_and_numbers_them_by_appearance():
    clouds = np.random.default_rng(0).normal(size=(30, 4))
    far = np.array([7 <= index < 19 for index in range(30)])
    clouds[far] += 20
    for data, expected in ((clouds, far), (clouds[::-1], far[::-1])):
        found = kmeans(data, 2, seed=0)
        assert found == (expected != expected[0]).astype(int).tolist()
        assert found == kmeans(data, 2, seed=0)


def test_how_well_environments_tell_labels():
    assert label_agreement("aabb", [0, 0, 1, 1]) == 1
    assert label_agreement("aabb", [0, 1, 0, 1]) == 0.5
    assert label_agreement("aaab", [0, 0, 0, 0]) == 0.75


def test_vectors_are_of_what_was_not_selected(corpus, monkeypatch):
    """With every second piece selected, other words there change nothing, elsewhere they do."""
    model = tiny_model("un_rat", selection={"whole_words": False, "decoding": "argmax"})
    engine, net = model.engine(), model.method.net

    def alternate(batch):
        taken = torch.arange(batch.input_ids.shape[1]) % 2 == 0
        return torch.stack([~taken, taken], -1).float().expand(len(batch), -1, -1)

    monkeypatch.setattr(net, "select", alternate)
    seen = read_complements(engine, corpus[:4])
    original = engine.text.encode_all
    for parity, same in ((0, True), (1, False)):

        def change(encoded, parity=parity):
            window = encoded.windows[0]
            ids = window.input_ids.copy()
            ids[window.selectable & (np.arange(len(ids)) % 2 == parity)] = 9
            return replace(encoded, windows=(replace(window, input_ids=ids),))

        def encode_changed(examples, *, truncate, change=change):
            return [change(encoded) for encoded in original(examples, truncate=truncate)]

        monkeypatch.setattr(engine.text, "encode_all", encode_changed)
        assert np.array_equal(seen, read_complements(engine, corpus[:4])) is same


def test_environments_are_an_artifact_that_reaches_the_batches_and_is_reused(tmp_path, monkeypatch):
    seen = []
    original = InvRAT.aware_loss
    monkeypatch.setattr(
        InvRAT, "aware_loss", lambda self, batch, noise: seen.append(batch) or original(self, batch, noise)
    )
    corpus = tiny_corpus(20)
    config = tiny_run("invrat", training={"epochs": 2, "batch_size": 4})
    data, display = make_training_data(config, corpus[:16], corpus[16:]), Listener()
    train(config, data, tmp_path / "run", display)
    artifact = read_json(tmp_path / "run" / "artifacts" / "environments.json")
    assert artifact["environments"].keys() == {example.id for example in data.train}
    assert sum(artifact["sizes"]) == 16
    assert len(artifact["sizes"]) == 2
    assert {int(number) for batch in seen for number in batch.environments} == {0, 1}
    assert any(message.startswith("environments of") for message in display.messages)

    def refuse(*_):
        raise AssertionError("un_rat is trained again")

    workspace = Workspace(config, tmp_path / "run" / "artifacts", Listener(), refuse)
    assert prepare_data(workspace, data).environments == artifact["environments"]


def test_more_environments_than_examples_are_refused(tmp_path):
    corpus, config = tiny_corpus(4), tiny_run("invrat")
    workspace = Workspace(config, tmp_path, Listener(), lambda *_: None)
    bench = RunBench(workspace, make_training_data(config, corpus[:3], corpus[3:]))
    with pytest.raises(ConfigError, match=r"options\.environments is 5, but there are only 3"):
        infer_environments(bench, 5)
