"""Open, resume and close run folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rationalize.config import RunConfig, to_yaml, validate
from rationalize.errors import CheckpointError, ConfigError
from rationalize.files import make_folder, read_json, remove_folder, sweep_parts, write_json, write_text
from rationalize.locks import hold_folder, is_lock_file, name_lock
from rationalize.runs.provenance import describe_environment
from rationalize.runs.settings import apply_settings, identify, list_differences, resolve_config
from rationalize.runs.training_data import TrainingData

RECORD = "run.json"


@dataclass(frozen=True)
class RunRecord:
    """`run.json`: the run's settings and progress.

    Attributes:
        config: The run's settings.
        data: Fingerprint of the run's data.
        finished: Whether the model is saved; checkpoints may be deleted from then on.
        extended_from: Planned numbers of epochs before more were added.
        processes: How many processes train it.
    """

    config: RunConfig
    data: str
    finished: bool = False
    extended_from: tuple[int, ...] = ()
    processes: int = 1

    def write(self, folder: Path) -> None:
        """Write the record into the folder."""
        values = {"config": self.config.model_dump(mode="json"), "data": self.data}
        more = {
            "finished": self.finished,
            "extended_from": list(self.extended_from),
            "processes": self.processes,
        }
        write_json(folder / RECORD, {**values, **more})


def read_record(folder: Path) -> RunRecord | None:
    """Read the folder's record; None: it is not a run folder."""
    path = folder / RECORD
    if not path.is_file():
        return None
    try:
        values = read_json(path)
        config, data = values["config"], values["data"]
        more = {
            "finished": values["finished"],
            "extended_from": tuple(values["extended_from"]),
            "processes": values.get("processes", 1),
        }
    except (ValueError, KeyError, TypeError):
        raise CheckpointError(f"{path}: not a valid run record. Train again in another folder.") from None
    return RunRecord(validate(RunConfig, config, str(path)), data, **more)


def is_run_folder(folder: Path) -> bool:
    """Return whether a run, finished or not, is in the folder."""
    return (folder / RECORD).is_file()


def is_finished(folder: Path) -> bool:
    """Return whether a run is finished and still has its model."""
    record = read_record(folder)
    return record is not None and _has_model(record, folder)


def has_ended(folder: Path, config: RunConfig) -> bool:
    """Return whether nothing is left to train: the run is finished, and no more epochs are asked for."""
    record = read_record(folder)
    if record is None or config.training.epochs > record.config.training.epochs:
        return False
    return _has_model(record, folder)


def _has_model(record: RunRecord, folder: Path) -> bool:
    """Return whether a run ended with a model that is still there; without it, it is trained again."""
    return record.finished and (folder / "model").is_dir()


def read_config(folder: Path, settings: Mapping[str, Any], *, has_data: bool) -> RunConfig:
    """Read the settings of a run to resume, and apply changes; `open_run` refuses those that are not allowed."""
    record = read_record(folder)
    if record is None:
        raise ConfigError(
            f"{folder}: found no run to resume. Expected a folder written by training.", field="resume"
        )
    if not has_data and record.config.data.path is None and "data.path" not in settings:
        raise ConfigError(
            f"{folder}: the run has no data path, since its data were given in Python. Give the data again.",
            field="data.path",
        )
    values = apply_settings(record.config.model_dump(mode="json"), settings)
    return resolve_config(validate(RunConfig, values, f"{folder} with the settings given"))


@contextmanager
def hold_run(folder: Path) -> Iterator[None]:
    """Be the only one who writes to a run folder; a folder with other things in it is left alone.

    Raises:
        BusyError: If another process writes to it.
        ConfigError: If it is no run folder.
    """
    if not is_run_folder(folder) and folder.exists() and _is_foreign(folder):
        raise ConfigError(f"{folder}: exists, is not empty and is not a run folder. Choose another folder.")
    with hold_folder(folder):
        yield


def open_run(
    config: RunConfig,
    data: TrainingData,
    folder: Path,
    *,
    resume: bool,
    processes: int = 1,
    report: Callable[[str], None] = lambda text: None,
) -> RunRecord:
    """Start a run in a folder that is held, or check that the folder to resume belongs to the same run.

    A finished run may be resumed with more epochs if it still has its last checkpoint; any run with another number of
    processes, which is reported.
    """
    new, old = RunRecord(config, data.fingerprint(), processes=processes), read_record(folder)
    if old is not None:
        if not resume:
            raise ConfigError(f"{folder}: already holds a run. Resume it, or choose another folder.")
        new = _continue_run(old, new, folder)
        if old.processes != processes and not new.finished:
            report(
                f"resumed with {processes} process(es), after {old.processes}: the same batches, random draws and "
                "losses; sums are rounded differently, so numbers are no longer equal to the bit"
            )
    make_folder(folder)
    for written in (folder, folder / "artifacts"):
        sweep_parts(written)
    new.write(folder)
    write_text(folder / "config.resolved.yaml", to_yaml(config))
    write_json(folder / "gold_ids.json", list(data.gold_ids))
    write_json(folder / "env.json", describe_environment())
    return new


def close_run(record: RunRecord, folder: Path) -> None:
    """Mark a run as finished, then delete what only resuming would need; if killed here, resuming finishes this."""
    # Only rounds of this run take turns at its artifacts, and whether they still had to depends on when it was killed.
    name_lock(folder / "artifacts").unlink(missing_ok=True)
    replace(record, finished=True).write(folder)
    tidy_run(record, folder)


def tidy_run(record: RunRecord, folder: Path) -> None:
    """Delete what only resuming would need; some of it is left if a finished run was killed while it was closed."""
    if record.config.training.keep == "all":
        sweep_parts(folder / "checkpoints")
        return
    artifacts = folder / "artifacts"
    for path in [folder / "checkpoints", *artifacts.rglob("checkpoints"), *artifacts.rglob("model")]:
        remove_folder(path)


def _continue_run(old: RunRecord, new: RunRecord, folder: Path) -> RunRecord:
    """Return the record of a resumed run."""
    before, now = old.config.training.epochs, new.config.training.epochs
    if old.finished and now > before:
        _check_same(_set_epochs(old, now), new, folder)
        _check_extendable(folder)
        return replace(new, extended_from=(*old.extended_from, before))
    _check_same(old, new, folder)
    return replace(new, finished=_has_model(old, folder), extended_from=old.extended_from)


def _set_epochs(record: RunRecord, epochs: int) -> RunRecord:
    training = record.config.training.model_copy(update={"epochs": epochs})
    return replace(record, config=record.config.model_copy(update={"training": training}))


def _check_same(old: RunRecord, new: RunRecord, folder: Path) -> None:
    changed = [f"  {line}" for line in list_differences(identify(old.config), identify(new.config))]
    if old.data != new.data:
        changed.append("  data: the examples, their labels, rationales or order have changed")
    if changed:
        raise CheckpointError(
            "\n".join([f"{folder}: this run was started with other settings or data.", *changed])
            + "\nResume with the same settings and data, or choose another folder. training.epochs may be raised "
            "once the run is finished."
        )


def _check_extendable(folder: Path) -> None:
    if not list((folder / "checkpoints").glob("step-*")):
        raise CheckpointError(
            f"{folder}: no epochs can be added, because the run deleted its checkpoints (training.keep was model). "
            "Train again with training.keep=all, or with more training.epochs from the start."
        )


def _is_foreign(folder: Path) -> bool:
    """Return whether the folder holds anything except a lock and the unfinished first file of a killed run."""
    return not folder.is_dir() or any(
        not each.name.startswith(f".{RECORD}.part-") and not is_lock_file(each) for each in folder.iterdir()
    )
