"""Train a model from a config and data: preparation, artifacts, warm start, resuming, provenance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.runs.model_folder import Model as Model
    from rationalize.runs.model_folder import ModelConfig as ModelConfig
    from rationalize.runs.model_folder import load_model as load_model
    from rationalize.runs.model_folder import save_model as save_model
    from rationalize.runs.provenance import Provenance as Provenance
    from rationalize.runs.run import find_shortcuts as find_shortcuts
    from rationalize.runs.run import train as train
    from rationalize.runs.run_folder import RunRecord as RunRecord
    from rationalize.runs.run_folder import read_record as read_record
    from rationalize.runs.settings import load_config as load_config
    from rationalize.runs.settings import resolve_config as resolve_config
    from rationalize.runs.training_data import TrainingData as TrainingData
    from rationalize.runs.training_data import make_training_data as make_training_data
    from rationalize.runs.training_data import read_training_data as read_training_data
    from rationalize.runs.training_data import split_training_data as split_training_data

_HOMES = {
    "Model": "model_folder",
    "ModelConfig": "model_folder",
    "Provenance": "provenance",
    "RunRecord": "run_folder",
    "TrainingData": "training_data",
    "find_shortcuts": "run",
    "load_config": "settings",
    "load_model": "model_folder",
    "make_training_data": "training_data",
    "read_record": "run_folder",
    "read_training_data": "training_data",
    "resolve_config": "settings",
    "save_model": "model_folder",
    "split_training_data": "training_data",
    "train": "run",
}
__all__ = [
    "Model",
    "ModelConfig",
    "Provenance",
    "RunRecord",
    "TrainingData",
    "find_shortcuts",
    "load_config",
    "load_model",
    "make_training_data",
    "read_record",
    "read_training_data",
    "resolve_config",
    "save_model",
    "split_training_data",
    "train",
]
__getattr__ = open_room(__name__, _HOMES)
