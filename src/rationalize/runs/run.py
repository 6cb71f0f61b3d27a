"""Run a training from start to end: data, model, loop, saved model and dev results, in one folder."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from rationalize.config import RunConfig
from rationalize.devices import resolve_device
from rationalize.evaluation.bag_of_words import BagOfWords, train_bag, write_bag
from rationalize.evaluation.recipe import evaluate_model
from rationalize.evaluation.scoring import quick_scores
from rationalize.evaluation.verdict import judge
from rationalize.files import JsonObject, sweep_parts, write_json
from rationalize.inference.calibration import calibrate
from rationalize.locks import name_lock, wait_for_lock
from rationalize.methods.full_text.full_text import FullText
from rationalize.methods.hooks import HearsLabels
from rationalize.runs._artifact_cache import find_cache, place_shared
from rationalize.runs._blind_masks import describe_blind_masks
from rationalize.runs._confidence_fit import fit_confidence
from rationalize.runs._epoch_rule import make_share_band, score_epoch
from rationalize.runs._exchange_data import exchange_data
from rationalize.runs._frozen_cache import remember_frozen
from rationalize.runs._training_rows import describe_long_texts, encode_texts, to_rows
from rationalize.runs._workspace import Workspace
from rationalize.runs.build import build_untrained
from rationalize.runs.model_folder import (
    ConfidenceRecord,
    Model,
    ModelConfig,
    load_model,
    render_plain_card,
    save_model,
)
from rationalize.runs.preparation import check_shortcuts, mark_shortcuts, prepare_data
from rationalize.runs.provenance import describe_data, describe_run
from rationalize.runs.pupil import build_pupil, load_teacher, make_lesson
from rationalize.runs.run_folder import close_run, has_ended, hold_run, open_run
from rationalize.runs.settings import check_layers, check_resolved
from rationalize.runs.shared_artifacts import place_classifier, take_shared
from rationalize.runs.trackers import report_training, require_tracker
from rationalize.runs.training_data import TrainingData
from rationalize.runs.warm_start import warm_up
from rationalize.training.crew import current_crew
from rationalize.training.loop import Display, Trainer
from rationalize.training.phases import build_phases, collect_weights

# An epoch whose task F1 on dev is further below the best is never chosen, however well it selects.
TASK_ALLOWANCE = 0.05


def train(
    config: RunConfig,
    data: TrainingData,
    folder: Path,
    display: Display,
    *,
    resume: bool = False,
    artifacts: Path | None = None,
    truncate: bool = False,
    bag: bool = False,
    judged: bool = True,
    card: Callable[[ModelConfig], str] | None = None,
) -> Model:
    """Train one method in a run folder and save the best model there.

    Args:
        config: Resolved settings (`runs.settings.resolve_config`).
        data: The training and dev examples.
        folder: The run folder.
        display: Shows progress.
        resume: Continue the run in the folder. A finished run is only loaded, unless the config has more epochs.
        artifacts: Folder for artifacts, instead of the run folder and the cache. Runs on the same data with the same
            shortcut settings can share it (with `shortcuts.rounds`, only runs of the same method).
        truncate: In the final dev evaluation, read only what fits the encoder; else all. (After each epoch, dev texts
            are read as training texts are, by `data.long_texts`.)
        bag: Also train a bag of words, keep it in the folder and score it beside the model, to compare with.
        judged: Evaluate the model on dev at the end. What only serves another run needs no results.
        card: Renders the model card from the model's config; None: a minimal card.
    """
    check_resolved(config)
    device = resolve_device(config.device)
    crew = current_crew()
    # A finished run needs its teacher no longer, which may be gone.
    teacher = None if resume and has_ended(folder, config) else load_teacher(config, data, crew.size)
    if config.training.teacher is None:
        check_shortcuts(config, data)
    check_layers(config)
    require_tracker(config.training.report_to)
    crew.check_sharding(config.training.sharding)
    with hold_run(folder):
        record = open_run(config, data, folder, resume=resume, processes=crew.size, report=display.message)
        if record.finished:
            close_run(record, folder)
            return load_model(folder / "model", device)
        for note in data.notes:
            display.message(note)
        facts, learned = describe_data(config, data), data.train
        if teacher is not None:
            model = build_pupil(config, teacher)
        else:
            data = _make_artifacts(_without_tracker(config), data, folder, display, artifacts)
            model = build_untrained(config, data)
            data = replace(data, warnings=(*data.warnings, *describe_blind_masks(config, model.method)))
        for warning in data.warnings:
            display.message(f"warning: {warning}")
        model = _learn(
            config, model, data, folder, display, device, teacher=teacher, resume=resume, judged=judged
        )
        plain = train_bag(learned, words=data.words, use_query=data.use_query) if bag else None
        results, sure = (
            _judge(config, model, data, folder, plain, teacher, truncate=truncate) if judged else ({}, None)
        )
        provenance = describe_run(config, facts, results, device, record.extended_from, data.warnings)
        model = replace(
            model, config=model.config.model_copy(update={"provenance": provenance, "confidence": sure})
        )
        save_model(folder / "model", model, (card or render_plain_card)(model.config))
        close_run(record, folder)
        return model


def _learn(
    config: RunConfig,
    model: Model,
    data: TrainingData,
    folder: Path,
    display: Display,
    device: torch.device,
    *,
    teacher: Model | None,
    resume: bool,
    judged: bool,
) -> Model:
    """Train the model, or go on with it, and return it with the weights of its best epoch."""
    with report_training(config, folder, display) as shown:
        trainer = _make_trainer(config, model, data, folder, shown, device, teacher=teacher, judged=judged)
        # Helpers would read all layers where this process begins with the frozen ones' vectors.
        alone = trainer.crew.size == 1 and config.training.sharding == "none"
        pools = trainer.pools if alone else {}
        with remember_frozen(config.training, model, pools, place_shared(config, folder, "frozen")):
            trainer.run(resume=resume)
    if config.training.sharding != "none":
        model = build_untrained(config, data)  # whole, not in parts
        model.method.to(device)
    trainer.checkpoints.load_best(model.method)
    return model


def _judge(
    config: RunConfig,
    model: Model,
    data: TrainingData,
    folder: Path,
    bag: BagOfWords | None,
    teacher: Model | None,
    *,
    truncate: bool,
) -> tuple[JsonObject, ConfidenceRecord | None]:
    """Evaluate the model on dev and write its results; return them, and how sure the model is."""
    if bag:
        write_bag(folder, bag)
    evaluation = evaluate_model(
        model.engine(), data.dev, split="dev", truncate=truncate, seed=config.seed, bag=bag
    )
    sure, scores = fit_confidence(evaluation, model.config.labels)
    evaluation = replace(evaluation, confidence=scores)
    results = evaluation.to_dict() | {"seed": config.seed, "encoder": config.encoder.name}
    written = {"dev": results, "verdict": judge(evaluation).to_dict(), "warnings": list(data.warnings)}
    if teacher is not None:
        beside = evaluate_model(teacher.engine(), data.dev, split="dev", truncate=truncate, seed=config.seed)
        written["teacher"] = beside.to_dict()
    write_json(folder / "results.json", written)
    return results, sure


def _without_tracker(config: RunConfig) -> RunConfig:
    """Return the settings for what is trained beforehand: only the run itself reports."""
    training = config.training.model_copy(update={"report_to": "none"})
    return config.model_copy(update={"training": training})


def _make_artifacts(
    config: RunConfig, data: TrainingData, folder: Path, display: Display, artifacts: Path | None
) -> TrainingData:
    """Make what training needs beforehand; runs that share a folder of artifacts take turns."""
    cache = find_cache(config.training.cache) if artifacts is None else None
    own = folder / "artifacts"
    workspace = Workspace(config, artifacts or own, display, train_first, cache)
    shared = workspace.folder != own
    with wait_for_lock(name_lock(workspace.folder)) if shared else nullcontext():
        sweep_parts(workspace.folder)
        data = exchange_data(workspace, data)
        data = warm_up(config, data, place_classifier(workspace, data, cache), display, train_first)
        take_shared(workspace, data)
        return prepare_data(workspace, data)


def train_first(
    config: RunConfig, data: TrainingData, folder: Path, display: Display, artifacts: Path | None = None
) -> Model:
    """Train what another run needs, or go on with it. With its artifacts, it is an earlier round of that run, whole."""
    truncate, judged = config.data.long_texts == "truncate", artifacts is not None
    return train(
        config, data, folder, display, resume=True, artifacts=artifacts, truncate=truncate, judged=judged
    )


def find_shortcuts(config: RunConfig, data: TrainingData, folder: Path, display: Display) -> Path:
    """Run only the discovery: train Un-RAT, write shortcuts.jsonl and shortcuts.json into the folder.

    Returns:
        The path of the statistics; the examples are beside them, as JSON Lines.
    """
    check_resolved(config)
    resolve_device(config.device)
    check_shortcuts(config, data)
    check_layers(config)
    with hold_run(folder):
        open_run(config, data, folder, resume=True)
        workspace = Workspace(config, folder, display, train_first)
        place = place_classifier(workspace, data, find_cache(config.training.cache))
        marked = mark_shortcuts(workspace, warm_up(config, data, place, display, train_first))
        for warning in marked.warnings:
            display.message(f"warning: {warning}")
        return workspace.path("shortcuts.json")


def _make_trainer(
    config: RunConfig,
    model: Model,
    data: TrainingData,
    folder: Path,
    display: Display,
    device: torch.device,
    *,
    teacher: Model | None,
    judged: bool,
) -> Trainer:
    # Epochs are compared with each other, in the precision that they were trained in; results are in single precision.
    engine = model.engine(precision="bf16" if config.training.precision == "bf16" else "fp32")
    truncate = config.data.long_texts == "truncate"
    place = place_shared(config, folder, "pieces") if len(data.train) >= config.training.map_from else None
    encoded, copies = (
        encode_texts(engine.text, part, place, truncate=truncate) for part in (data.train, data.augmented)
    )
    dev = engine.text.encode_all(data.dev, truncate=truncate)
    if note := describe_long_texts(engine.text, encoded):
        display.message(note)
    band = make_share_band(config, data, dev)
    pools = to_rows(encoded, data, copies)

    crew = current_crew()
    engine.explainer = partial(crew.explain, model.method, engine.precision)
    if not judged and crew.size == 1 and isinstance(model.method, FullText):
        # Nobody asks a warm start's classifier for words, and to find them costs more than a training step.
        engine.explainer = model.method.decide

    def score_dev() -> dict[str, float]:
        calibrate(engine, dev)
        return quick_scores(engine.explain_encoded(dev))

    if isinstance(model.method, HearsLabels):
        labels = array("q", (data.labels.index(str(example.label)) for example in data.train))
        model.method.see_labels(torch.tensor(labels, device="cpu"))
    crew.start(model.method, config)
    return Trainer(
        model.method,
        pools,
        config.training,
        phases=build_phases(model.method, config) if teacher is None else (make_lesson(model, teacher),),
        weights=collect_weights(model.method, config) if teacher is None else {},
        seed=config.seed,
        pad_id=model.tokenizer.pad_token_id or 0,
        folder=folder,
        evaluate=score_dev,
        score=lambda scores: score_epoch(scores, config),
        fits=lambda scores: band is None or band.holds(scores.get("selected_fraction_read")),
        allowance=TASK_ALLOWANCE if config.training.select_by == "auto" else None,
        display=display,
        device=device,
        crew=crew,
    )
