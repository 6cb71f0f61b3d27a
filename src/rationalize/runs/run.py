"""A run from start to end: data, model, loop, the saved model and its dev results, all in one folder."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch

from rationalize.config import RunConfig, differences, resolve_options, to_yaml
from rationalize.errors import CheckpointError, ConfigError
from rationalize.evaluation.evaluate_model import evaluate_model
from rationalize.evaluation.evaluation import Evaluation
from rationalize.evaluation.scoring import quick_scores
from rationalize.files import read_json, sweep_parts, write_json, write_text
from rationalize.inference.engine import Engine
from rationalize.methods.hooks import HearsLabels
from rationalize.methods.registry import method_class
from rationalize.models.encoder import EncoderFactory, Start
from rationalize.models.tokenizer import FROM_SCRATCH, load_tokenizer, train_tokenizer
from rationalize.runs.model_folder import Model, ModelConfig, build_method, load_model, save_model
from rationalize.runs.preparation import check_shortcuts, mark_shortcuts, prepare_data
from rationalize.runs.training_data import TrainingData, to_rows, truncation_note
from rationalize.runs.warm_start import warm_up
from rationalize.runs.workspace import Workspace
from rationalize.seeding import derive_seed
from rationalize.training.loop import Display, Trainer
from rationalize.training.phases import run_phases, run_weights
from rationalize.version import __version__

if TYPE_CHECKING:
    from rationalize.methods.full_text.full_text import FullText

# An epoch whose task F1 on dev is further below the best is not chosen, however well it selects.
TASK_ALLOWANCE = 0.1
# What may differ when a run is resumed: where things lie and how often they are saved, not what is computed.
FREE_TO_CHANGE = ("data.path", "training.checkpoint_every", "training.keep_checkpoints")


def train(
    config: RunConfig,
    data: TrainingData,
    folder: Path,
    display: Display,
    *,
    resume: bool = False,
    artifacts: Path | None = None,
    truncate: bool = False,
) -> Model:
    """Train one method in a run folder and save the best model there.

    Args:
        config: What to train and how.
        data: What to learn from.
        folder: The run folder.
        display: Where progress is shown.
        resume: Go on with the run in the folder.
        artifacts: Where artifacts are kept, if not in the run folder: runs on the same data and with the same
            settings of discovery can share them (with `shortcuts.rounds`, the method is one of those).
        truncate: In the end, explain of dev only what fits the encoder, as epochs do; else all of it.
    """
    config = resolve_options(config)
    check_shortcuts(config, data)
    _open_folder(config, data, folder, resume=resume)
    for note in data.notes:
        display.message(note)
    data = add_warm_start(config, data, (artifacts or folder / "artifacts") / "warm_start", display)
    data = prepare_data(Workspace(config, artifacts or folder / "artifacts", display, _train_engine), data)
    model = build_untrained(config, data)
    engine = model.engine()
    encoded = [engine.text.encode(example, truncate=True) for example in data.train]
    dev = [engine.text.encode(example, truncate=True) for example in data.dev]
    if cut_note := truncation_note(engine.text, encoded):
        display.message(cut_note)
    copies = [engine.text.encode(example, truncate=True) for example in data.augmented]
    pools = to_rows(encoded, data, copies)
    if isinstance(model.method, HearsLabels):
        model.method.see_labels(torch.tensor([row.label for row in pools["all"]]))
    trainer = Trainer(
        model.method,
        pools,
        config.training,
        phases=run_phases(model.method, config),
        weights=run_weights(model.method, config),
        seed=config.seed,
        pad_id=model.tokenizer.pad_token_id or 0,
        folder=folder,
        evaluate=lambda: quick_scores(engine.explain_encoded(dev)),
        score=lambda scores: dev_score(scores, config),
        allowance=TASK_ALLOWANCE if config.training.select_by == "auto" else None,
        display=display,
    )
    trainer.run(resume=resume)
    trainer.checkpoints.load_best(model.method)
    results = evaluate_model(engine, data.dev, split="dev", truncate=truncate, seed=config.seed)
    written = results.to_dict() | {"seed": config.seed, "encoder": config.encoder.name}
    write_json(folder / "results.json", {"dev": written})
    save_model(folder / "model", model, _card(model, config, data, results))
    return model


def find_shortcuts(config: RunConfig, data: TrainingData, folder: Path, display: Display) -> Path:
    """Only the discovery of a run: train Un-RAT, write shortcuts.jsonl and shortcuts.json into the folder.

    Returns:
        Where the statistics are; the examples lie beside them, as JSON Lines.
    """
    config = resolve_options(config)
    check_shortcuts(config, data)
    workspace = Workspace(config, folder, display, _train_engine)
    mark_shortcuts(workspace, add_warm_start(config, data, folder / "warm_start", display))
    return workspace.path("shortcuts.json")


def add_warm_start(config: RunConfig, data: TrainingData, folder: Path, display: Display) -> TrainingData:
    """The data with the classifier that the run's encoders start from, if it wants one; trained in `folder`."""

    def classifier(settings: RunConfig, plain: TrainingData, where: Path) -> None:
        display.message(f"warm start: training {settings.method} first")
        train(settings, plain, where, display, resume=True, truncate=True)

    return warm_up(config, data, folder, classifier)


def _train_engine(
    config: RunConfig, data: TrainingData, folder: Path, display: Display, artifacts: Path | None
) -> Engine:
    return train(config, data, folder, display, resume=True, artifacts=artifacts, truncate=True).engine()


def build_untrained(config: RunConfig, data: TrainingData) -> Model:
    """The model as it is before the first step: pretrained, warmed-up or seeded encoders, seeded heads."""
    classifier = load_model(data.start) if data.start is not None else None
    if classifier is not None:
        tokenizer = classifier.tokenizer
    elif config.encoder.name in FROM_SCRATCH:
        texts = [text for example in data.train for text in (example.text, example.query) if text]
        tokenizer = train_tokenizer(texts, config.encoder.vocabulary)
    else:
        tokenizer = load_tokenizer(config.encoder.name)
    described = ModelConfig(
        method=config.method,
        options=config.options,
        labels=list(data.labels),
        encoder=config.encoder,
        use_query=data.use_query,
        words=data.words,
    )
    with torch.random.fork_rng():
        torch.manual_seed(derive_seed(config.seed, "weights"))
        method = build_method(described, EncoderFactory(config.encoder, tokenizer, start=_start(classifier)))
    return Model(described, method, tokenizer)


def _start(classifier: Model | None) -> Start | None:
    if classifier is None:
        return None
    net = cast("FullText", classifier.method).net
    return Start(net.encoder, net.head)


def dev_score(scores: Mapping[str, float], config: RunConfig) -> float | None:
    """The number by which epochs are chosen; None: the newest is taken. A score that dev lacks is 0."""
    rule = config.training.select_by
    if rule == "last":
        return None
    if rule == "auto":
        sees_gold = method_class(config.method).about.supervision != "none"
        rule = "token_f1" if sees_gold and "token_f1" in scores else "task_f1"
    task, token = scores.get("task_f1", 0.0), scores.get("token_f1", 0.0)
    by_rule = {"task_f1": task, "token_f1": token, "task_and_token_f1": (task + token) / 2}
    return by_rule[rule]


def _open_folder(config: RunConfig, data: TrainingData, folder: Path, *, resume: bool) -> None:
    """Start a run folder, or make sure that the one to resume is of the same run."""
    identity = {"config": config.model_dump(mode="json"), "data": data.fingerprint()}
    known = folder / "run.json"
    if known.is_file():
        if not resume:
            raise ConfigError(
                f"{folder}: there is a run already. Add --resume to go on with it, or choose another --out."
            )
        changed = _changes(read_json(known), identity)
        if changed:
            raise CheckpointError(
                "\n".join([f"{folder}: this run was started with other settings or data.", *changed])
                + "\nResume with the same ones, or choose another --out."
            )
    elif folder.exists() and _is_foreign(folder):
        raise ConfigError(f"{folder}: exists, is not empty and is not a run folder. Choose another --out.")
    folder.mkdir(parents=True, exist_ok=True)
    for written in (folder, folder / "artifacts"):
        sweep_parts(written)
    write_json(known, identity)
    write_text(folder / "config.resolved.yaml", to_yaml(config))
    write_json(folder / "gold_ids.json", list(data.gold_ids))
    write_json(folder / "env.json", environment())


def _is_foreign(folder: Path) -> bool:
    """Whether it holds anything but what a run leaves that was killed while it wrote its first file."""
    return not folder.is_dir() or any(
        not each.name.startswith(".run.json.part-") for each in folder.iterdir()
    )


def _changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    lines = differences(old["config"], new["config"])
    lines = [f"  {line}" for line in lines if not line.startswith(FREE_TO_CHANGE)]
    if old["data"] != new["data"]:
        lines.append("  data: the examples, their labels, rationales or order have changed")
    return lines


def environment() -> dict[str, Any]:
    """What the run ran on."""
    from importlib.metadata import version

    packages = ("torch", "transformers", "tokenizers", "accelerate", "numpy")
    return {
        "rationalize": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": torch.get_num_threads(),
        **{name: version(name) for name in packages},
    }


def _card(model: Model, config: RunConfig, data: TrainingData, results: Evaluation) -> str:
    from rationalize.reporting.card import card_for

    return card_for(model.config, config, data, results)
