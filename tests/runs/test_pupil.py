"""A pupil: its teacher's weights, a selector with fewer layers, and nothing else that learns."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
import torch
from runs_helpers import Stops, run, tree

from helpers import tiny_batch, tiny_corpus, tiny_model
from rationalize.errors import ConfigError, EncoderError
from rationalize.rationalizer import Rationalizer
from rationalize.reporting.card import render_card
from rationalize.runs.model_folder import load_model, save_model
from rationalize.runs.pupil import (
    build_pupil,
    can_teach,
    load_teacher,
    make_lesson,
    make_pupil_config,
)
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data

DEEP = {"layers": 3}
QUICK = {"training.epochs": 2, "training.batch_size": 8, "training.checkpoint_every": 2, "device": "cpu"}
CORPUS = tiny_corpus(50)


def teach(tmp_path, method="semi_rat", layers=1, **options):
    """Save an untrained teacher of three layers; the settings of its pupil, and their data."""
    folder = tmp_path / "teacher"
    save_model(folder, tiny_model(method, encoder=DEEP, **options), "")
    config = make_pupil_config(load_model(folder), folder, layers, QUICK)
    return config, make_training_data(config, CORPUS[:40], CORPUS[40:])


def select(model, batch):
    with torch.no_grad():
        return model.method.select(batch)


@pytest.mark.parametrize("method", ["semi_rat", "ssr_virt", "mcd", "mgr"])
def test_a_pupil_starts_as_its_teacher_with_fewer_layers(tmp_path, method):
    config, data = teach(tmp_path, method, layers=2)
    teacher = load_teacher(config, data, 1)
    pupil = build_pupil(config, teacher)
    batch = tiny_batch(CORPUS[:6])
    mask = batch.selectable & (torch.arange(batch.selectable.shape[1]) % 3 == 0)
    own, theirs = (each.method.eval().label_from_mask(batch, mask) for each in (pupil, teacher))
    torch.testing.assert_close(own, theirs, rtol=0, atol=1e-6)
    # The layers that were left out are all that is missing: without them, the teacher selects alike.
    teacher.method.net.selector_encoder.keep_layers(2)
    torch.testing.assert_close(select(pupil, batch), select(teacher, batch), rtol=0, atol=1e-6)


def test_only_the_selector_learns_and_it_comes_to_select_as_its_teacher_does(tmp_path):
    config, data = teach(tmp_path)
    teacher = load_teacher(config, data, 1)
    untaught = build_pupil(config, teacher)
    batch = tiny_batch(CORPUS[:40])
    lesson = make_lesson(untaught, teacher).turns[0].loss
    before = lesson(batch, torch.Generator())["imitation"]
    said = run(config, tmp_path / "run", data=data)
    assert {phase for phase, _, _ in said.steps} == {"imitate"}
    taught = load_model(tmp_path / "run/model")
    after = make_lesson(taught, teacher).turns[0].loss(batch, torch.Generator())["imitation"]
    assert after < 0.5 * before
    for name, tensor in taught.method.state_dict().items():
        if "selector_encoder" not in name and "select_head" not in name and name != "cutoff":
            assert torch.equal(tensor, untaught.method.state_dict()[name]), name


def test_it_resumes_bit_identically(tmp_path):
    config, data = teach(tmp_path)
    train(config, data, tmp_path / "whole", Stops(10_000))
    with pytest.raises(KeyboardInterrupt):
        train(config, data, tmp_path / "halved", Stops(5))
    train(config, data, tmp_path / "halved", Stops(10_000), resume=True)
    assert tree(tmp_path / "halved") == tree(tmp_path / "whole")


def test_the_copy_is_scored_beside_its_teacher_and_keeps_no_path(tmp_path):
    config, data = teach(tmp_path)
    run(config, tmp_path / "run", data=data)
    results = (tmp_path / "run/results.json").read_text()
    assert '"teacher": {' in results
    copy = Rationalizer.from_pretrained(tmp_path / "run")
    assert copy.model.config.provenance.training.teacher == "teacher"
    assert copy.config.training.teacher is None  # trained again, it would not know where that was
    [label] = copy.predict(["a truly gripping story . it was shot in colour ."])
    assert label in ("NEG", "POS")


def test_the_card_says_whose_pupil_it_is(tmp_path):
    config, data = teach(tmp_path)
    model = train(config, data, tmp_path / "run", Stops(10_000))
    assert "its selector learned to select as the model 'teacher' does" in render_card(model.config)


def test_from_python(tmp_path):
    save_model(tmp_path / "model", tiny_model("semi_rat", encoder=DEEP), "")
    model = Rationalizer.from_pretrained(tmp_path / "model", device="cpu")
    copy = model.distill(
        CORPUS[:40], 1, dev=CORPUS[40:], folder=tmp_path / "copy", settings=QUICK, quiet=True
    )
    assert copy.model.method.net.selector_encoder.depth == 1
    assert Rationalizer.from_pretrained(tmp_path / "copy").predict(["a joy to watch"])[0] in ("NEG", "POS")
    loose = Rationalizer("un_rat", encoder="tiny", training={"epochs": 1}, preset=None)
    loose.fit(CORPUS[:20], dev=CORPUS[20:30], quiet=True)
    with pytest.raises(ConfigError, match="Save it by save_pretrained"):
        loose.distill(CORPUS, 1)


@pytest.mark.parametrize(
    ("method", "layers", "options", "message"),
    [
        ("sup_rat", 1, {}, "sup_rat decides on the full text"),
        ("semi_rat", 1, {"label_from": "full_text"}, "semi_rat decides on the full text"),
        ("wsee", 1, {}, "wsee has no selector of its own"),
        ("semi_rat", 3, {}, "selects by 3 layers. Expected fewer"),
        ("semi_rat", 2, {"selection": {"layers": 2}}, "selects by 2 layers. Expected fewer"),
    ],
)
def test_models_that_cannot_teach(tmp_path, method, layers, options, message):
    with pytest.raises(ConfigError, match=message):
        teach(tmp_path, method, layers, **options)


def test_encoders_whose_layers_cannot_be_read_one_by_one(tmp_path):
    save_model(tmp_path / "teacher", tiny_model("semi_rat", encoder={"name": "gru"}), "")
    with pytest.raises(EncoderError, match="the layers of gru cannot be read one by one"):
        make_pupil_config(load_model(tmp_path / "teacher"), tmp_path / "teacher", 1, {})


def test_other_labels_or_another_method_are_refused_before_anything_is_written(tmp_path):
    config, data = teach(tmp_path)
    with pytest.raises(ConfigError, match=r"labels: the teacher has \[.*\], the run \["):
        train(config, replace(data, labels=("bad", "good")), tmp_path / "run", Stops(1))
    with pytest.raises(ConfigError, match="method: the teacher has semi_rat, the run ssr_unif"):
        train(config.model_copy(update={"method": "ssr_unif"}), data, tmp_path / "run", Stops(1))
    assert not (tmp_path / "run").exists()


def test_a_teacher_needs_a_number_of_layers(tmp_path):
    config, data = teach(tmp_path)
    options = {**config.options, "selection": {**config.options["selection"], "layers": None}}
    with pytest.raises(ConfigError, match=r"Set options\.selection\.layers"):
        load_teacher(config.model_copy(update={"options": options}), data, 1)


def test_one_process_teaches(tmp_path):
    config, data = teach(tmp_path)
    with pytest.raises(ConfigError, match="2 processes were started"):
        load_teacher(config, data, 2)


def test_a_finished_copy_needs_its_teacher_no_longer(tmp_path):
    config, data = teach(tmp_path)
    trained = train(config, data, tmp_path / "run", Stops(10_000))
    shutil.rmtree(tmp_path / "teacher")
    loaded = train(config, data, tmp_path / "run", Stops(10_000), resume=True)
    assert loaded.config == trained.config


def test_who_can_teach():
    assert can_teach("ssr_unif")
    assert not can_teach("hardkuma")  # its scores are no logits of two choices
    assert not can_teach("fr")  # one encoder is its idea
