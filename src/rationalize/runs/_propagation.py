"""Carry shortcuts over from annotated examples to the rest, as an artifact with statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from rationalize.files import read_json, write_json
from rationalize.inference.engine import Engine
from rationalize.inference.vectors import represent
from rationalize.runs._workspace import Workspace
from rationalize.runs.training_data import TrainingData
from rationalize.shortcuts.finding import Discovered
from rationalize.shortcuts.nearest import Neighborhood, build_neighborhood
from rationalize.shortcuts.propagate import PhraseBook, phrases_to_carry
from rationalize.shortcuts.statistics import compare_with_truth, describe_coverage
from rationalize.text.words import mask_spans, word_spans
from rationalize.types import Example

CHUNK = 256  # texts whose word vectors are in memory at once


def carry_to_rest(
    workspace: Workspace, data: TrainingData, gold: Sequence[Example], finder: Callable[[], Engine]
) -> Sequence[Example]:
    """Return the examples without annotation, with shortcuts carried over from `gold`."""
    kept = set(data.gold_ids)
    rest = [example for example in data.train if example.id not in kept]
    return workspace.keep("propagated", lambda: _carry(workspace, data, gold, rest, finder))


def _carry(
    workspace: Workspace,
    data: TrainingData,
    gold: Sequence[Example],
    rest: Sequence[Example],
    finder: Callable[[], Engine],
) -> list[Example]:
    chosen = workspace.config.shortcuts
    book = phrases_to_carry(gold, chosen.propagate_least, data.words)
    numbers: dict[str, object] = {"kind": chosen.propagate, "n_phrases": len(book.phrases)}
    if chosen.propagate == "nearest" and book.phrases:
        near = build_neighborhood(gold, represent(finder(), gold), book)
        numbers["radius"] = near.radius
        found = list(_carry_nearest(rest, book, near, finder()))
    else:
        found = [Discovered(example, book.spans(example.text)) for example in rest]
    _report(workspace, data, found, numbers)
    return [each.to_example() for each in found]


def _carry_nearest(
    rest: Sequence[Example], book: PhraseBook, near: Neighborhood, engine: Engine
) -> Iterator[Discovered]:
    for start in range(0, len(rest), CHUNK):
        part = rest[start : start + CHUNK]
        for example, vectors in zip(part, represent(engine, part), strict=True):
            mask = near.mark(vectors, book.mark(example.text))
            yield Discovered(example, mask_spans(word_spans(example.text, book.rule), mask))


def _report(
    workspace: Workspace, data: TrainingData, found: Sequence[Discovered], numbers: Mapping[str, object]
) -> None:
    """Add the statistics to those of the discovery."""
    covered = describe_coverage(found, data.words)
    counted: dict[str, object] = {**numbers, **covered}
    hidden = data.hidden_shortcuts
    known = [each for each in found if each.example.id in hidden]
    if known:
        truth = [replace(each.example, shortcuts=hidden[each.example.id]) for each in known]
        counted["against_truth"] = compare_with_truth(known, truth, data.words)
    path = workspace.path("shortcuts.json")
    write_json(path, {**(read_json(path) if path.is_file() else {}), "propagated": counted})
    workspace.display.message(
        f"shortcuts: {numbers['n_phrases']} phrases carried over to {covered['n_with_shortcut']} of "
        f"{covered['n_examples']} examples without annotation"
    )
