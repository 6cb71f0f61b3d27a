"""Several processes train what one trains: the same gradients, losses, epochs and scores, whatever the method."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from launching import launch, run_of, train_in, train_together

from helpers import TINY, Intruder, tiny_corpus, tiny_model
from local_encoders import save_local
from rationalize.errors import ConfigError
from rationalize.files import read_json
from rationalize.interrupts import Interrupted
from rationalize.methods.registry import list_names
from rationalize.models import encoder_pass
from rationalize.processes import is_helper, read_launch
from rationalize.rationalizer import Rationalizer
from rationalize.training.crew import lead_crew
from rationalize.training.helping import help_training
from rationalize.training.loop import read_log
from rationalize.training.optim import Players

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

# What the paper's results are made with: losses over rows with gold or a shortcut, turns, players, rounds, attacks.
MANY: dict[str, dict[str, Any]] = {
    "un_rat": {},
    "semi_rat": {"options": {"selection": {"sparsity": "batch"}}},
    "ssr_unif": {"augment": {"kind": "semantic"}},
    "ssr_virt": {},
    "car": {},
    "three_player": {},
    "st_rat": {"options": {"teacher_epochs": 2}},
    "at_bmc": {},
}
QUICK = {"ssr_virt": {"shortcuts": {"source": "known"}}, "three_player": {}}
# Half precision adds up the gradients of biases in it: one unit in their last place.
ROUNDING = {"fp32": 1e-5, "fp16": 1e-3, "bf16": 1e-2}
OTHERS = [name for name in list_names() if name not in MANY]


def losses_of(folder: Path) -> list[tuple[int, str, float]]:
    rows = read_log(folder / "metrics.jsonl")
    return [(row["step"], name, value) for row in rows for name, value in row["losses"].items()]


def numbers_in(values: Any, name: str = "") -> dict[str, float]:
    if isinstance(values, dict):
        return {
            key: value
            for part, inner in values.items()
            for key, value in numbers_in(inner, f"{name}.{part}").items()
        }
    return {name: values} if isinstance(values, int | float) else {}


def furthest(left: dict[Any, float], right: dict[Any, float]) -> float:
    assert left.keys() == right.keys()
    return max(abs(value - right[key]) for key, value in left.items())


def check_alike(alone: Path, together: Path) -> float:
    """Compare two runs; return the largest difference between losses."""
    curves = [
        {(step, name): value for step, name, value in losses_of(folder)} for folder in (alone, together)
    ]
    found = furthest(*curves)
    assert found < 1e-5
    epochs = [
        [row for row in read_log(folder / "metrics.jsonl") if "epoch" in row] for folder in (alone, together)
    ]
    assert [row["best"] for row in epochs[0]] == [row["best"] for row in epochs[1]]
    results = [numbers_in(read_json(folder / "results.json")["dev"]) for folder in (alone, together)]
    assert furthest(*results) < 1e-4
    return found


def keep_gradients(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the gradients of every step of the method itself, as the optimizers get them."""
    step = Players.step

    def look(self: Players, moves: tuple[str, ...], *others: Any) -> None:
        moved = {
            self.names[id(parameter)]: parameter.grad.clone()
            for player in moves
            for parameter in self.groups[player]
            if parameter.grad is not None
        }
        if not is_helper():
            number = len(list(folder.glob("*.pt")))
            torch.save(moved, folder / f"{number:03d}.pt")
        step(self, moves, *others)

    folder.mkdir()
    monkeypatch.setattr(Players, "step", look)


def compare(
    method: str, processes: tuple[int, ...], tmp_path: Path, monkeypatch: Any, **settings: Any
) -> None:
    # A large norm, or clipping would hide gradients of the wrong size, as AdamW does.
    config = run_of(method, **{**settings, "training": {"clip_norm": 1e9, **settings.get("training", {})}})
    folders = {n: tmp_path / f"of {n}" for n in (1, *processes)}
    for n, folder in folders.items():
        with monkeypatch.context() as patched:
            keep_gradients(tmp_path / f"gradients of {n}", patched)
            if n == 1:
                train_in(folder, config)
            else:
                assert train_together(n, folder, config) == [0] * n
    for n in processes:
        difference = check_alike(folders[1], folders[n])
        pairs = list(zip(*(sorted((tmp_path / f"gradients of {m}").iterdir()) for m in (1, n)), strict=True))
        assert pairs
        for alone, together in pairs:
            found, wanted = torch.load(together), torch.load(alone)
            torch.testing.assert_close(found, wanted, rtol=1e-3, atol=ROUNDING[config.training.precision])
        print(f"{method}, {n} processes: losses differ by {difference:.1e} at most")


@pytest.mark.parametrize("method", QUICK)
def test_two_processes_train_what_one_trains(method, tmp_path, monkeypatch):
    compare(method, (2,), tmp_path, monkeypatch, **QUICK[method], training={"epochs": 1})


@pytest.mark.slow
@pytest.mark.parametrize("method", MANY)
def test_two_and_three_processes_train_what_one_trains(method, tmp_path, monkeypatch):
    compare(method, (2, 3), tmp_path, monkeypatch, **MANY[method])


@pytest.mark.slow
@pytest.mark.parametrize("method", OTHERS)
def test_every_other_method_is_trained_by_two_as_by_one(method, tmp_path, monkeypatch):
    compare(method, (2,), tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"training": {"micro_batch": 2, "batch_size": 7}},
        {"training": {"gradient_checkpointing": True}},
        {"training": {"precision": "bf16"}},
        {"training": {"precision": "fp16"}},
        {"encoder": {"name": "gru"}},
        {"encoder": {"attention_dropout": 0.2}},
        {"options": {"selection": {"masking": "attention", "sampler": "gumbel_hard"}}},
        {"options": {"selection": {"layers": 1}}, "encoder": {"layers": 2}},
    ],
    ids=str,
)
def test_settings_mean_the_same_in_several_processes(settings, tmp_path, monkeypatch):
    compare("semi_rat", (3,), tmp_path, monkeypatch, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["semi_rat", "three_player"])
def test_layers_in_parts_learn_what_whole_ones_learn(method, tmp_path):
    train_in(tmp_path / "whole", run_of(method))
    assert train_together(2, tmp_path / "parts", run_of(method, training={"sharding": "fsdp"})) == [0, 0]
    check_alike(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.slow
def test_a_decoder_in_parts_steps_in_half_precision_and_computes_its_layers_again(tmp_path):
    save_local("llama", tmp_path / "encoder")
    saving = {"sharding": "fsdp", "gradient_checkpointing": True, "precision": "bf16", "micro_batch": 2}
    encoder = {"name": str(tmp_path / "encoder"), "max_tokens": 32}
    for name, more in {"whole": {}, "parts": saving}.items():
        config = run_of("semi_rat", encoder=encoder, training={"epochs": 1, **more})
        assert train_together(2, tmp_path / name, config) == [0, 0]
    curves = [
        {(step, part): value for step, part, value in losses_of(tmp_path / name)}
        for name in ("whole", "parts")
    ]
    assert furthest(*curves) < 0.2


def test_all_processes_explain_dev_in_the_precision_of_training(tmp_path, monkeypatch):
    """Else a row's dev score would depend on who reads it."""
    pack = encoder_pass.pack_layers

    def watch(model: Any, dtype: torch.dtype) -> Any:
        (tmp_path / f"{dtype} by {os.environ['RANK']}").touch()
        return pack(model, dtype)

    monkeypatch.setattr(encoder_pass, "pack_layers", watch)
    config = run_of("un_rat", training={"epochs": 1, "precision": "bf16"})
    assert train_together(2, tmp_path / "run", config) == [0, 0]
    assert len(list(tmp_path.glob("torch.bfloat16 by ?"))) == 2


@pytest.mark.parametrize("selection", [{}, {"layers": 1}], ids=str)
def test_layers_in_parts_explain_dev_in_half_precision(selection, tmp_path):
    """What is rounded and kept elsewhere is not whole here."""
    config = run_of(
        "un_rat",
        training={"epochs": 1, "precision": "bf16", "sharding": "fsdp"},
        options={"selection": selection},
        encoder={"layers": 2},
    )
    assert train_together(2, tmp_path / "run", config) == [0, 0]


def test_computing_layers_again_changes_nothing(tmp_path):
    for name, more in {"plain": {}, "again": {"gradient_checkpointing": True}}.items():
        options = {"selection": {"masking": "attention", "sampler": "gumbel_hard"}}
        train_in(tmp_path / name, run_of("un_rat", training={"epochs": 1, **more}, options=options))
    assert losses_of(tmp_path / "plain") == losses_of(tmp_path / "again")


def test_layers_that_are_computed_again_and_frozen_have_no_backward_pass():
    encoder = tiny_model("un_rat").method.net.encoder
    encoder.freeze_layers(0)
    encoder.checkpoint_layers()
    assert not encoder.embed(torch.tensor([[1, 2]])).requires_grad


@pytest.mark.slow
@pytest.mark.parametrize("killed", ["leader", "helper", "all"])
@pytest.mark.parametrize("again", [1, 2, 3])
def test_what_is_killed_resumes_to_the_same_result(killed, again, tmp_path):
    config, folder = run_of("semi_rat"), tmp_path / "killed"

    def end(pids: dict[str, int]) -> None:
        for name, pid in sorted(pids.items()):
            if killed in {name, "all"}:
                os.kill(pid, signal.SIGKILL)

    def work() -> None:
        (tmp_path / f"pid {os.environ['RANK']}").write_text(str(os.getpid()))
        if is_helper():
            help_training().take_result()
            return
        names = {"helper": 1, "leader": 0}
        pids = lambda: {name: int((tmp_path / f"pid {rank}").read_text()) for name, rank in names.items()}  # noqa: E731
        train_in(folder, config, display=Intruder(5, lambda: end(pids())))

    assert 0 not in launch(2, work)
    assert not (folder / "model").exists()
    if again == 1:
        said = train_in(folder, config, resume=True).messages
        assert any("resumed with 1 process(es), after 2" in line for line in said)
    else:
        assert train_together(again, folder, config, resume=True) == [0] * again
    train_in(tmp_path / "whole", config)
    check_alike(tmp_path / "whole", folder)


@pytest.mark.slow
def test_every_process_has_the_model_in_the_end(tmp_path):
    corpus = tiny_corpus(20)

    def work() -> None:
        model = Rationalizer("un_rat", TINY, preset=None, training={"epochs": 1, "cache": "off"})
        rank = os.environ["RANK"]
        model.fit(None if rank == "1" else {"train": corpus[:14], "dev": corpus[14:]}, quiet=True)
        answers = model.predict_proba([example.text for example in corpus])
        np.save(tmp_path / f"{rank}.npy", answers)

    assert launch(2, work) == [0, 0]
    assert np.array_equal(*(np.load(tmp_path / f"{rank}.npy") for rank in (0, 1)))


@pytest.mark.slow
def test_a_launchers_signals_save_the_step(tmp_path):
    """It sends what it got to all of them, who may have got it already."""

    def end() -> None:
        for rank in (0, 1) * 2:
            os.kill(int((tmp_path / f"pid {rank}").read_text()), signal.SIGTERM)

    def work() -> None:
        (tmp_path / f"pid {os.environ['RANK']}").write_text(str(os.getpid()))
        if is_helper():
            done = help_training()
            assert (done.exit_code, "interrupted after step 4" in str(done.problem)) == (143, True)
            return
        with pytest.raises(Interrupted, match="saved"):
            train_in(tmp_path / "run", run_of("un_rat"), display=Intruder(4, end))

    assert launch(2, work) == [0, 0]
    assert (tmp_path / "run/checkpoints/step-00000004").is_dir()


@pytest.mark.parametrize("sharding", ["none", "fsdp"])
def test_a_model_that_computes_layers_again_is_handed_to_all_processes(sharding):
    def work() -> None:
        training = {"epochs": 1, "cache": "off", "gradient_checkpointing": True, "sharding": sharding}
        model = Rationalizer("un_rat", TINY, preset=None, training=training)
        model.fit(tiny_corpus(20), quiet=True)
        assert model.predict(["a good film"])[0] in ("NEG", "POS")

    assert launch(2, work) == [0, 0]


def test_what_stops_process_0_stops_the_others(tmp_path):
    def work() -> None:
        if is_helper():
            assert "no such thing" in str(help_training().problem)
            return
        with pytest.raises(ConfigError), lead_crew():
            raise ConfigError("no such thing")

    assert launch(2, work) == [0, 0]


def test_more_processes_than_gpus_are_refused(monkeypatch):
    from rationalize.devices import resolve_device

    monkeypatch.setattr("rationalize.devices.list_devices", lambda: ["cuda:0", "cuda:1", "cpu"])
    given = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
    for name, value in {**given, "MASTER_ADDR": "here", "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    assert [str(resolve_device(name)) for name in ("auto", "cuda", "cpu")] == ["cuda:1", "cuda:1", "cpu"]
    with pytest.raises(ConfigError, match=r"2 processes on this machine, which has 2 GPU"):
        resolve_device("cuda:1")  # one GPU for both
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
    with pytest.raises(ConfigError, match=r"3 processes on this machine, which has 2 GPU"):
        resolve_device("auto")
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(ConfigError, match="WORLD_SIZE is 'two', expected a number"):
        read_launch()


def test_parts_of_layers_need_several_processes(tmp_path):
    with pytest.raises(ConfigError, match=r"training.sharding is fsdp, but this is one process"):
        train_in(tmp_path / "run", run_of("un_rat", training={"sharding": "fsdp"}))
