"""The folder of a run: whose it is, whether it may be gone on with, and what stays in it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rationalize.config import RunConfig, to_yaml, validate
from rationalize.errors import CheckpointError, ConfigError
from rationalize.files import read_json, sweep_parts, write_json, write_text
from rationalize.runs.provenance import describe_environment
from rationalize.runs.settings import apply_settings, differences, identify, resolve_config
from rationalize.runs.training_data import TrainingData

RECORD = "run.json"


@dataclass(frozen=True)
class RunRecord:
    """`run.json`: what the folder is a run of, and how far it is.

    Attributes:
        config: Its settings.
        data: Fingerprint of its data.
        finished: Whether its model is there; from then on checkpoints may be gone.
        extended_from: Numbers of epochs that it was planned for before more were added.
    """

    config: RunConfig
    data: str
    finished: bool = False
    extended_from: tuple[int, ...] = ()

    def write(self, folder: Path) -> None:
        """Put it into the folder."""
        values = {"config": self.config.model_dump(mode="json"), "data": self.data}
        more = {"finished": self.finished, "extended_from": list(self.extended_from)}
        write_json(folder / RECORD, {**values, **more})


def read_record(folder: Path) -> RunRecord | None:
    """What the folder is a run of; None: of none."""
    path = folder / RECORD
    if not path.is_file():
        return None
    try:
        values = read_json(path)
        config, data = values["config"], values["data"]
        more = {"finished": values["finished"], "extended_from": tuple(values["extended_from"])}
    except (ValueError, KeyError, TypeError):
        raise CheckpointError(f"{path}: not the record of a run. Train it again in another folder.") from None
    return RunRecord(validate(RunConfig, config, str(path)), data, **more)


def is_finished(folder: Path) -> bool:
    """Whether a run is finished and still has its model."""
    record = read_record(folder)
    return record is not None and record.finished and (folder / "model").is_dir()


def read_config(folder: Path, settings: Mapping[str, Any], *, has_data: bool) -> RunConfig:
    """The settings of a run that is to be resumed, with changes; what may not change is refused when it is opened."""
    record = read_record(folder)
    if record is None:
        raise ConfigError(
            f"{folder}: there is no run to resume. Expected a folder made by training.", field="resume"
        )
    if not has_data and record.config.data.path is None and "data.path" not in settings:
        raise ConfigError(
            f"{folder}: the run does not know where its data are, since they were given in Python. Give them again.",
            field="data.path",
        )
    values = apply_settings(record.config.model_dump(mode="json"), settings)
    return resolve_config(validate(RunConfig, values, f"{folder} with the settings given"))


def open_run(config: RunConfig, data: TrainingData, folder: Path, *, resume: bool) -> RunRecord:
    """Start a run folder, or make sure that the one to resume is of the same run.

    A finished run may be resumed with more epochs, if its last checkpoint is there.
    """
    new, old = RunRecord(config, data.fingerprint()), read_record(folder)
    if old is not None:
        if not resume:
            raise ConfigError(f"{folder}: there is a run already. Resume it, or choose another folder.")
        new = _go_on(old, new, folder)
    elif folder.exists() and _is_foreign(folder):
        raise ConfigError(f"{folder}: exists, is not empty and is not a run folder. Choose another one.")
    folder.mkdir(parents=True, exist_ok=True)
    for written in (folder, folder / "artifacts"):
        sweep_parts(written)
    new.write(folder)
    write_text(folder / "config.resolved.yaml", to_yaml(config))
    write_json(folder / "gold_ids.json", list(data.gold_ids))
    write_json(folder / "env.json", describe_environment())
    return new


def close_run(record: RunRecord, folder: Path) -> None:
    """Mark a run as finished and drop what only going on would need. Killed in between, it is done when resumed."""
    replace(record, finished=True).write(folder)
    if record.config.training.keep == "all":
        return
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    artifacts = folder / "artifacts"
    for path in [*artifacts.rglob("checkpoints"), *artifacts.rglob("model")]:
        shutil.rmtree(path, ignore_errors=True)


def _go_on(old: RunRecord, new: RunRecord, folder: Path) -> RunRecord:
    """The record of a run that is resumed."""
    before, now = old.config.training.epochs, new.config.training.epochs
    if old.finished and now > before:
        _check_same(_set_epochs(old, now), new, folder)
        _check_extendable(folder)
        return replace(new, extended_from=(*old.extended_from, before))
    _check_same(old, new, folder)
    finished = old.finished and (folder / "model").is_dir()  # without its model it is trained again
    return replace(new, finished=finished, extended_from=old.extended_from)


def _set_epochs(record: RunRecord, epochs: int) -> RunRecord:
    training = record.config.training.model_copy(update={"epochs": epochs})
    return replace(record, config=record.config.model_copy(update={"training": training}))


def _check_same(old: RunRecord, new: RunRecord, folder: Path) -> None:
    changed = [f"  {line}" for line in differences(identify(old.config), identify(new.config))]
    if old.data != new.data:
        changed.append("  data: the examples, their labels, rationales or order have changed")
    if changed:
        raise CheckpointError(
            "\n".join([f"{folder}: this run was started with other settings or data.", *changed])
            + "\nResume with the same ones, or choose another folder. training.epochs may be raised once the run "
            "is finished."
        )


def _check_extendable(folder: Path) -> None:
    if not list((folder / "checkpoints").glob("step-*")):
        raise CheckpointError(
            f"{folder}: no epochs can be added, the run has dropped its checkpoints (training.keep was model). "
            "Train it again with training.keep=all, or with as many epochs from the start."
        )


def _is_foreign(folder: Path) -> bool:
    """Whether it holds anything but what a run leaves that was killed while it wrote its first file."""
    return not folder.is_dir() or any(
        not each.name.startswith(f".{RECORD}.part-") for each in folder.iterdir()
    )
