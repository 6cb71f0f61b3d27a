"""Prepare a study: explain the same sampled examples with each model, shuffled and anonymous."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rationalize.data.conversion import require_free
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.data.splits import limit
from rationalize.devices import resolve_device
from rationalize.errors import ConfigError, DataError, ModelFormatError
from rationalize.files import MANIFEST, atomic_dir, sha256_of
from rationalize.ratings._predictions import Predictions, read_predictions, to_prediction
from rationalize.ratings.guide import GUIDE, HIGHEST, LOWEST
from rationalize.ratings.study import (
    FileSource,
    Item,
    Key,
    ModelSource,
    Origin,
    Source,
    StudyInfo,
    write_info,
    write_items,
)
from rationalize.seeding import python_random
from rationalize.types import Example

Watch = Callable[[Iterable[Any], str, int], Iterable[Any]]
"""Passes items through and shows progress: (items, what is done, how many)."""
DEFAULTS = ReadOptions()


@dataclass(frozen=True)
class StudyPlan:
    """The sources and settings of a study.

    Attributes:
        models: Model or run folders, by model name.
        predictions: Files of finished predictions, by model name.
        data: The data set; needed by models.
        split: Its split.
        samples: Maximum number of examples, stratified by label.
        seed: Decides the sample and the order.
        out: The folder to make.
        reading: How to read the data.
        device: Where to run the models.
    """

    models: Mapping[str, Path]
    predictions: Mapping[str, Path]
    data: Path | None
    split: str
    samples: int
    seed: int
    out: Path
    reading: ReadOptions = DEFAULTS
    device: str = "auto"


def prepare_study(plan: StudyPlan, watch: Watch = lambda items, _doing, _total: items) -> StudyInfo:
    """Make the study folder. Everything that can be checked is checked before a model is loaded."""
    _check(plan)
    ready = {name: read_predictions(path) for name, path in plan.predictions.items()}
    examples = _sample(plan, ready)
    sources = {name: _describe_file(path) for name, path in plan.predictions.items()}
    for name, folder in plan.models.items():
        ready[name], sources[name] = _explain(name, folder, examples, plan.device, watch)
    pairs = [(name, ready[name][example.id]) for name in sorted(ready) for example in examples]
    python_random(plan.seed, "rating items").shuffle(pairs)
    width = len(str(len(pairs)))
    items = [_make_item(f"item-{number:0{width}d}", each) for number, (_, each) in enumerate(pairs, start=1)]
    origins = {
        item.id: Origin(model=name, example=each.id) for item, (name, each) in zip(items, pairs, strict=True)
    }
    with atomic_dir(plan.out) as folder:
        digest = write_items(folder, items)
        info = StudyInfo(
            guide=GUIDE,
            scale=(LOWEST, HIGHEST),
            seed=plan.seed,
            examples=len(examples),
            items=len(items),
            items_sha256=digest,
            data=str(plan.data) if plan.data else None,
            split=plan.split if plan.data else None,
            sources=dict(sorted(sources.items())),
        )
        write_info(folder, info, Key(items_sha256=digest, items=origins))
    return info


def _check(plan: StudyPlan) -> None:
    if not plan.models and not plan.predictions:
        raise ConfigError(
            "nothing to rate. Give at least one model folder, or one file of predictions, by name.",
            field=("models", "predictions"),
        )
    both = sorted(plan.models.keys() & plan.predictions.keys())
    if both:
        raise ConfigError(
            f"predictions {both[0]!r}: a model has this name too. Give each its own.",
            field=("models", "predictions"),
        )
    if plan.models and plan.data is None:
        raise ConfigError("models need examples to explain: give data.", field="data")
    resolve_device(plan.device)
    require_free(plan.out, force=False)
    for folder in plan.models.values():
        if not (_find_model_folder(folder) / MANIFEST).is_file():
            raise ModelFormatError(
                f"{folder}: not a model or run folder. Expected one written by `rationalize train`."
            )


def _sample(plan: StudyPlan, ready: Mapping[str, Predictions]) -> Sequence[Example]:
    """Sample examples that all predictions cover. Without data, the first predictions give the labels."""
    if plan.data is not None:
        pool: Sequence[Example] = read_data(plan.data, plan.reading, plan.split).split(plan.split)
    else:
        pool = list(next(iter(ready.values())).values())
    for name, found in ready.items():
        pool = [example for example in pool if example.id in found]
        if not pool:
            raise DataError(
                f"{plan.predictions[name]}: no example in common with the data or the other predictions. "
                "Expected the same `id`s; explain the same file with every model."
            )
        for example in pool:
            if (found[example.id].text, found[example.id].query) != (example.text, example.query):
                raise DataError(
                    f"{plan.predictions[name]}: example {example.id!r} has a different text or query here than in "
                    "the data or the other predictions. Explain the same file with every model."
                )
    return limit(pool, plan.samples, plan.seed)


def _describe_file(path: Path) -> Source:
    return FileSource(predictions=str(path), sha256=sha256_of(path))


def _explain(
    name: str, folder: Path, examples: Sequence[Example], device: str, watch: Watch
) -> tuple[Predictions, Source]:
    from rationalize.runs.model_folder import load_model

    model = load_model(folder, device)
    stream = model.engine().explain(examples)
    found = [
        to_prediction(each.explanation) for each in watch(stream, f"explaining with {name}", len(examples))
    ]
    digest = sha256_of(_find_model_folder(folder) / MANIFEST)
    source = ModelSource(model=str(folder), method=model.config.method, sha256=digest)
    return {each.id: each for each in found}, source


def _find_model_folder(folder: Path) -> Path:
    """Return the model folder of a model folder or a run folder."""
    return folder / "model" if (folder / "model" / MANIFEST).is_file() else folder


def _make_item(id: str, each: Example) -> Item:
    spans = tuple((span.start, span.end) for span in each.rationale or ())
    return Item(id=id, text=each.text, query=each.query, label=each.label or "", spans=spans)
