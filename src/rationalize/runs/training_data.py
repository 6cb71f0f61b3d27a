"""Prepare a run's examples: check them against the method's needs, choose who keeps gold, make input rows."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from rationalize.config import RunConfig
from rationalize.data.dataset import DataSet, list_labels
from rationalize.data.held_examples import change_examples
from rationalize.data.read_options import ReadOptions
from rationalize.data.readiness import choose_parts, hold_out, require_ready
from rationalize.data.seen_part import write_seen
from rationalize.data.splits import choose_gold, limit
from rationalize.errors import ConfigError, DataError
from rationalize.files import json_line
from rationalize.methods.registry import About, method_class
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example, Span


@dataclass(frozen=True)
class TrainingData:
    """A run's examples.

    Attributes:
        train: Training examples; those outside `gold_ids` have no rationale.
        dev: Examples for choosing epochs.
        labels: Class names; the index is the class number.
        gold_ids: Ids of training examples whose gold rationale may be used.
        use_query: Whether queries are read.
        words: The rule that splits texts into words.
        notes: Notes on the data for the user, in plain sentences.
        augmented: Augmented copies of annotated examples, in a separate pool.
        environments: Inferred environment numbers by example id (INVRAT).
        start: Folder of the classifier whose encoder all encoders copy; None: they start pretrained.
        hidden_shortcuts: Known shortcuts of examples outside `gold_ids`, by id. For statistics; training never
            sees them.
        name: The data set's name, if known.
        warnings: What is doubtful about the artifacts that were made of the data, in plain sentences.
    """

    train: Sequence[Example]
    dev: Sequence[Example]
    labels: tuple[str, ...]
    gold_ids: tuple[str, ...]
    use_query: bool
    words: WordRule = PLAIN
    notes: tuple[str, ...] = ()
    augmented: Sequence[Example] = ()
    environments: Mapping[str, int] = field(default_factory=dict)
    start: Path | None = None
    hidden_shortcuts: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    name: str | None = None
    warnings: tuple[str, ...] = ()

    def list_gold(self) -> list[Example]:
        """List the training examples whose gold rationale may be used."""
        gold = set(self.gold_ids)
        return [example for example in self.train if example.id in gold]

    def fingerprint(self) -> str:
        """Return the SHA-256 of everything that training sees."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for example in chain(self.train, self.dev):
            digest.update(write_seen(example))
        sizes = [len(self.train), len(self.dev)]
        # The white-space rule adds nothing: fingerprints stay as they were when it was the only rule.
        words = [] if self.words == "whitespace" else [self.words]
        digest.update(json_line([sizes, self.labels, self.gold_ids, self.use_query, *words]).encode())
        return digest.hexdigest()


def read_training_data(config: RunConfig) -> TrainingData:
    """Read the run's data set from `data.path` with the config's options."""
    from rationalize.data.source import read_data

    if config.data.path is None:
        raise ConfigError("data.path is not set. Set it to a data set.", field="data.path")
    options = ReadOptions.from_run(config)
    return split_training_data(config, read_data(config.data.path, options))


def split_training_data(config: RunConfig, data: DataSet) -> TrainingData:
    """Take a run's training data from a whole data set."""
    chosen = config.data
    name = chosen.path or data.name
    parts = choose_parts(data.splits, name, train=chosen.train, dev=chosen.dev, seed=config.seed)
    found = make_training_data(config, parts.train, parts.dev, words=data.words, notes=parts.notes)
    return replace(found, name=data.known or data.name)


def make_training_data(
    config: RunConfig,
    train: Sequence[Example],
    dev: Sequence[Example] | None = None,
    *,
    words: WordRule = PLAIN,
    notes: Sequence[str] = (),
) -> TrainingData:
    """Check examples against the method's needs and choose which ones keep their gold rationale.

    `words` is the data set's word rule, which the config may override; `notes` describes how the data were split.
    """
    chosen, all_notes = config.data, list(notes)
    if dev is None:
        parts = hold_out(train, config.seed)
        train, dev = parts.train, parts.dev
        all_notes += parts.notes
    train = limit(train, chosen.limit, config.seed) if chosen.limit else train
    dev = limit(dev, chosen.dev_limit, config.seed) if chosen.dev_limit else dev
    require_ready(train, dev)
    about = method_class(config.method).about
    # A method that reads no gold can still learn from augmented copies, which need annotated examples.
    unread = chosen.gold_share if config.augment.kind != "none" else 0.0
    share = {"none": unread, "part": chosen.gold_share, "full": 1.0}[about.supervision]
    gold_ids = choose_gold(train, share, config.seed)
    _check_gold(about, len(gold_ids), len(train), chosen.gold_share)
    if about.needs_marks:
        _require_marks(about, train)
    if about.supervision != "none":
        all_notes += describe_gold(train, gold_ids, share)
    kept = set(gold_ids)
    seen = change_examples(train, lambda each: each if each.id in kept else _drop_rationale(each))
    hidden = {each.id: each.shortcuts for each in train if each.id not in kept and each.shortcuts is not None}
    query = train[0].query
    constant = query is not None and all(example.query == query for example in train)
    if chosen.query == "auto" and constant:
        all_notes.append(f"every example has the same query ({query!r}), so queries are not read")
    return TrainingData(
        train=seen,
        dev=tuple(dev),
        labels=list_labels(train),
        gold_ids=tuple(gold_ids),
        use_query=chosen.query == "always" or (chosen.query == "auto" and not constant),
        words=words if chosen.words == "auto" else chosen.words,
        notes=tuple(all_notes),
        hidden_shortcuts=hidden,
    )


def drop_gold(data: TrainingData) -> TrainingData:
    """Remove gold rationales and shortcuts from all examples and copies."""
    train, augmented = (change_examples(part, _drop_rationale) for part in (data.train, data.augmented))
    return replace(data, train=train, augmented=augmented, gold_ids=())


def _drop_rationale(example: Example) -> Example:
    return replace(example, rationale=None, shortcuts=None)


def _check_gold(about: About, n_gold: int, n_train: int, share: float) -> None:
    if about.supervision != "none" and n_gold == 0:
        raise DataError(
            f"method {about.name} learns from gold rationales, but none of the {n_train} training examples has one "
            f"to use (data.gold_share is {share:g}). Add `rationale` spans, raise data.gold_share, or use un_rat."
        )


def _require_marks(about: About, train: Sequence[Example]) -> None:
    """Refuse data in which some label has nothing marked."""
    bare = {str(example.label) for example in train} - _find_marked_labels(train)
    if bare:
        raise DataError(
            f"method {about.name} learns a label from marked words alone, but nothing is marked in any {_join(bare)} "
            "example. Mark some of them, or use sup_rat, which also learns to select nothing."
        )


def describe_gold(train: Sequence[Example], gold_ids: Sequence[str], share: float) -> list[str]:
    """Describe how much of the gold is used, and which labels have none."""
    n_annotated = sum(example.rationale is not None for example in train)
    notes = []
    if len(gold_ids) < n_annotated:
        used = f"{len(gold_ids)} of {n_annotated} gold rationales are used"
        notes.append(f"{used} (data.gold_share is {share:g})")
    marked = _find_marked_labels(train)
    empty = {str(example.label) for example in train if example.rationale is not None} - marked
    absent = {str(example.label) for example in train} - marked - empty
    if empty:
        notes.append(f"nothing is marked in any {_join(empty)} example: selecting nothing is right there")
    if marked and absent:
        notes.append(
            f"no {_join(absent)} example is annotated, so these teach the label alone; "
            "if they were looked at and have nothing to mark, give them an empty rationale"
        )
    return notes


def _find_marked_labels(examples: Iterable[Example]) -> set[str]:
    return {str(example.label) for example in examples if example.rationale}


def _join(labels: Collection[str]) -> str:
    return " or ".join(sorted(labels))
