"""Checkpoints: complete or absent, the newest whole one counts, and damage is said aloud."""

from __future__ import annotations

import pytest
import torch
from toys import Toy, toy, trainer

from rationalize.config import TrainingConfig
from rationalize.errors import CheckpointError, ModelFormatError
from rationalize.training._checkpoint import Checkpoints, TrainState
from rationalize.training.optim import Players


@pytest.fixture
def saved(tmp_path):
    """Three checkpoints of a method whose `left` says which one it is."""
    method = Toy()
    checkpoints = Checkpoints(tmp_path, keep=3)
    for step in (2, 10, 300):
        with torch.no_grad():
            method.left.fill_(step)
        checkpoints.save(
            method, Players(method, TrainingConfig()), TrainState(step=step, sums={"a": [0.1, 3]})
        )
    return checkpoints


def newest(checkpoints):
    method, said = Toy(), []
    state = checkpoints.load_newest(method, Players(method, TrainingConfig()), said.append)
    return state, method.left[0].item(), said


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_the_newest_is_loaded_with_all_that_it_knows(saved):
    state, left, said = newest(saved)
    assert state == TrainState(step=300, sums={"a": [0.1, 3]})
    assert (left, said) == (300, [])


@pytest.mark.parametrize(
    "file", ["model.safetensors", "optimizer.safetensors", "state.json", "MANIFEST.json"]
)
def test_a_flipped_byte_anywhere_sends_it_back_to_the_one_before(saved, file):
    flip_a_byte(saved.folder / "step-00000300" / file)
    state, left, [said] = newest(saved)
    assert (state.step, left) == (10, 10)
    assert "step-00000300 is damaged" in said
    assert file in said or file == "MANIFEST.json"  # a damaged manifest blames what it describes


@pytest.mark.parametrize("file", ["model.safetensors", "MANIFEST.json"])
def test_a_missing_file_is_damage_too(saved, file):
    (saved.folder / "step-00000300" / file).unlink()
    state, _, [said] = newest(saved)
    assert state.step == 10
    assert "missing" in said


def test_damaged_checkpoints_never_crowd_out_whole_ones(saved):
    """They are gone once seen: if they counted as the newest, each new checkpoint would be dropped at once."""
    for folder in saved.folder.iterdir():
        flip_a_byte(folder / "model.safetensors")
    state, _, said = newest(saved)
    assert state is None
    assert len(said) == 3
    method, only_one = Toy(), Checkpoints(saved.folder, keep=1)
    only_one.save(method, Players(method, TrainingConfig()), TrainState(step=1))
    assert newest(only_one)[0].step == 1


def test_only_the_newest_are_kept(saved):
    method = Toy()
    saved.keep = 2
    saved.save(method, Players(method, TrainingConfig()), TrainState(step=301))
    assert sorted(path.name for path in saved.folder.iterdir()) == ["step-00000300", "step-00000301"]


def test_the_best_weights_are_apart_and_checked(saved):
    method = Toy()
    with torch.no_grad():
        method.left.fill_(7)
    saved.save_best(method)
    assert newest(saved)[1] == 300
    other = Toy()
    saved.load_best(other)
    assert other.left[0] == 7
    flip_a_byte(saved.folder / "best" / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"best weights .*\n.*SHA-256 differs"):
        saved.load_best(other)


def test_a_checkpoint_of_another_model_is_refused(saved):
    method = Toy()
    method.middle = torch.nn.Parameter(torch.zeros(2))
    with pytest.raises(ModelFormatError, match="middle"):
        saved.load_newest(method, Players(method, TrainingConfig()), print)


def test_what_a_killed_writer_left_is_swept_away_and_what_it_took_is_put_back(saved):
    (saved.folder / "step-00000300").rename(saved.folder / ".step-00000300.old-77")
    (saved.folder / ".step-00000301.part-77").mkdir()
    (saved.folder / ".best.part-77").mkdir()
    state, left, said = newest(saved)
    assert (state.step, left, said) == (300, 300, [])
    assert not list(saved.folder.glob(".*"))


def test_a_run_without_a_whole_checkpoint_starts_over_and_says_so(tmp_path):
    trainer(toy("a"), tmp_path, checkpoint_every=2).run(resume=False)
    whole = (tmp_path / "metrics.jsonl").read_bytes()
    for path in (tmp_path / "checkpoints").glob("step-*/state.json"):
        flip_a_byte(path)
    again = trainer(toy("a"), tmp_path)
    again.run(resume=True)
    *damaged, last = again.display.messages
    assert len(damaged) == 2
    assert last == "found no intact checkpoint to resume from: training starts from the beginning"
    assert again.display.resumed_at == 0
    assert (tmp_path / "metrics.jsonl").read_bytes() == whole


def test_a_new_run_has_nothing_to_say_about_checkpoints(tmp_path):
    made = trainer(toy("a"), tmp_path)
    made.run(resume=True)
    assert not made.display.messages
