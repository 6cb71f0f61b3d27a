"""Distill a model: a pupil with its weights whose selector has fewer layers and learns to select as it does.

Gold teaches a shallow selector less than a deep one's scores do: these say of every word of every text how likely it is
evidence, where people drew one line, or none. The predictor stays as it is, so that the same words give the same label.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import torch

from rationalize.config import RunConfig, Settings, validate
from rationalize.errors import ConfigError
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.options import find_selection_layers
from rationalize.methods.registry import list_methods, method_class
from rationalize.methods.select_predict import SelectPredict
from rationalize.models.depth import check_depth
from rationalize.models.encoder import EncoderFactory
from rationalize.models.frozen import freeze
from rationalize.models.losses import imitation
from rationalize.models.weights import collect_weights, load_weights
from rationalize.runs.model_folder import Model, build_method, find_model, load_model
from rationalize.runs.settings import apply_settings, resolve_config
from rationalize.runs.training_data import TrainingData
from rationalize.text.batch import Batch

EPOCHS = 3
KEPT = (
    "batch_size",
    "batch_tokens",
    "micro_batch",
    "precision",
    "gradient_checkpointing",
    "learning_rate",
    "head_learning_rate",
    "weight_decay",
    "clip_norm",
    "map_from",
)
"""Training settings that a pupil takes from its teacher: what its machine and its weights need."""
TEACHER_FIELD = "training.teacher"


def make_pupil_config(teacher: Model, folder: Path, layers: int, settings: Settings) -> RunConfig:
    """Make the settings of a pupil: those of its teacher, but for how deep it selects, what it learns, and those given.

    Raises:
        ConfigError: If the teacher has no selector that could be smaller.
    """
    require_teacher(teacher, folder, layers)
    known = teacher.config.to_run_config("auto")
    training = {name: getattr(known.training, name) for name in KEPT}
    values = {
        "method": known.method,
        "options": known.options,
        "encoder": known.encoder.model_dump(mode="json"),
        "seed": known.seed,
        "training": {**training, "teacher": str(folder), "epochs": EPOCHS},
    }
    own = {"options.selection.layers": layers, "options.selection.shared_encoder": False}
    changed = apply_settings(values, {**own, **settings})
    return resolve_config(validate(RunConfig, changed, "settings of the copy"))


def require_teacher(teacher: Model, folder: Path, layers: int) -> None:
    """Refuse a model that has no selector of more than so many layers."""
    name = teacher.config.method
    if teacher.config.export is not None:
        raise ConfigError(
            f"{folder}: an exported model cannot teach. Give the model that it was made from; export the pupil.",
            field=TEACHER_FIELD,
        )
    if not can_teach(name) or not teacher.method.faithful:
        able = ", ".join(about.name for about in list_methods() if about.faithful and can_teach(about.name))
        why = (
            "decides on the full text, which it reads through all layers anyway"
            if can_teach(name)
            else "has no selector of its own that chooses, by two scores for each piece, what a predictor then reads"
        )
        raise ConfigError(
            f"{folder}: {name} {why}. Expected a model that decides on what it selects, by one of: {able}.",
            field=TEACHER_FIELD,
        )
    net = cast("SelectPredict", teacher.method).net
    depth = net.layers or check_depth(1, net.selector_encoder.depth, net.encoder.name, "layers")
    if layers >= depth:
        raise ConfigError(
            f"{folder}: selects by {depth} layers. Expected fewer for its pupil, saw {layers}.",
            field="layers",
        )


def can_teach(method: str) -> bool:
    """Return whether the method selects by two logits for each piece, and its selector may have its own encoder."""
    cls = method_class(method)
    if not issubclass(cls, SelectPredict) or cls.select is not SelectPredict.select:
        return False
    try:
        cls.Config.model_validate({"selection": {"shared_encoder": False}})
    except ValueError:  # selector and predictor are one
        return False
    return True


def load_teacher(config: RunConfig, data: TrainingData, processes: int) -> Model | None:
    """Load the teacher of a run, if it has one, and refuse data or settings that are not its own."""
    if config.training.teacher is None:
        return None
    if processes > 1:  # each would need a teacher of its own
        raise ConfigError(
            f"{TEACHER_FIELD} is set, and {processes} processes were started: expected one. Start it plainly.",
            field=TEACHER_FIELD,
        )
    folder = Path(config.training.teacher)
    teacher = load_model(folder, config.device)
    options = validate(method_class(config.method).Config, config.options, f"options of {config.method}")
    layers = find_selection_layers(options)
    if layers is None:
        raise ConfigError(
            f"{TEACHER_FIELD} is set, but not by how many layers to select. Set options.selection.layers, or use "
            "`rationalize distill`.",
            field="options.selection.layers",
        )
    require_teacher(teacher, folder, layers)
    known = teacher.config
    pairs = {
        "method": (known.method, config.method),
        "labels": (known.labels, list(data.labels)),
        "words": (known.words, data.words),
    }
    for name, (theirs, ours) in pairs.items():
        if theirs != ours:
            raise ConfigError(
                f"{folder}: this teacher was trained otherwise. {name}: the teacher has {theirs}, the run {ours}. "
                "Give it the same kind of data, with all of its labels.",
                field=TEACHER_FIELD,
            )
    return teacher


def build_pupil(config: RunConfig, teacher: Model) -> Model:
    """Build the pupil as it is before the first step: its teacher's weights, and of its selector the first layers."""
    described = teacher.config.model_copy(
        update={"options": config.options, "provenance": None, "confidence": None}
    )
    factory = EncoderFactory(
        config.encoder, teacher.tokenizer, saved=find_model(Path(str(config.training.teacher)))
    )
    method = build_method(described, factory)
    theirs = collect_weights(teacher.method)
    # A shared encoder goes by the predictor's name.
    start = {
        name: theirs[name] if name in theirs else theirs[name.replace("selector_encoder", "encoder", 1)]
        for name in collect_weights(method)
    }
    with torch.no_grad():
        load_weights(method, start, f"{config.training.teacher}: the teacher")
    net = cast("SelectPredict", method).net
    method.requires_grad_(False)
    for part in (net.selector_encoder, net.select_head):
        part.requires_grad_(True)
    return Model(described, method, teacher.tokenizer)


def make_lesson(pupil: Model, teacher: Model) -> Phase:
    """Make the only phase of a pupil's training: select as the teacher does, in all texts."""
    learner, master = (cast("SelectPredict", each.method) for each in (pupil, teacher))

    def loss(batch: Batch, generator: torch.Generator) -> Losses:
        with freeze(master):
            shown = master.select(batch)
        return {"imitation": imitation(learner.select(batch), shown, batch.selectable)}

    return Phase("imitate", "all", (Turn("imitate", loss, tuple(learner.players())),))
