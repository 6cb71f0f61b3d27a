"""What a run learns from: examples checked against the method's needs, split by who may see gold, as rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rationalize.config import RunConfig
from rationalize.data.dataset import DataSet, labels_of
from rationalize.data.read_options import ReadOptions
from rationalize.data.readiness import choose_parts, hold_out, require_ready
from rationalize.data.splits import gold_subset, limit
from rationalize.errors import ConfigError, DataError
from rationalize.files import json_line
from rationalize.methods.registry import About, method_class
from rationalize.text.batch import InputRow
from rationalize.text.windows import Encoded, TextEncoder
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example, Span


@dataclass(frozen=True)
class TrainingData:
    """Examples of a run.

    Attributes:
        train: Training examples; those outside `gold_ids` have lost their rationale.
        dev: Examples on which epochs are chosen.
        labels: Class names; the index is the class number.
        gold_ids: Training examples whose gold rationale may be used.
        use_query: Whether queries are read.
        words: What a word is.
        notes: What a user should know about the data, in plain sentences.
        augmented: Changed copies of annotated examples, a pool of their own.
        environments: Number of the inferred environment by example id (INVRAT).
        start: Folder of the classifier whose encoder all encoders start as; None: they start as pretrained.
        hidden_shortcuts: What the data say of the shortcuts of examples outside `gold_ids`, by id. Statistics
            compare with it; training never sees it.
        name: What the data set is called, if that is known.
    """

    train: tuple[Example, ...]
    dev: tuple[Example, ...]
    labels: tuple[str, ...]
    gold_ids: tuple[str, ...]
    use_query: bool
    words: WordRule = PLAIN
    notes: tuple[str, ...] = ()
    augmented: tuple[Example, ...] = ()
    environments: Mapping[str, int] = field(default_factory=dict)
    start: Path | None = None
    hidden_shortcuts: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    name: str | None = None

    def fingerprint(self) -> str:
        """SHA-256 of everything that training sees."""
        digest = hashlib.sha256()
        for example in (*self.train, *self.dev):
            digest.update(json_line(asdict(example)).encode())
        sizes = [len(self.train), len(self.dev)]
        # Data whose words are cut at white space have the fingerprint that they had when there was no other rule.
        words = [] if self.words == "whitespace" else [self.words]
        digest.update(json_line([sizes, self.labels, self.gold_ids, self.use_query, *words]).encode())
        return digest.hexdigest()


def read_training_data(config: RunConfig) -> TrainingData:
    """Read the run's data set from `data.path`, as the settings have it."""
    from rationalize.data.source import read_data

    if config.data.path is None:
        raise ConfigError("data.path is not set: name a data set.", field="data.path")
    return split_training_data(config, read_data(config.data.path, ReadOptions.from_config(config.data)))


def split_training_data(config: RunConfig, data: DataSet) -> TrainingData:
    """What a run learns from, out of a whole data set."""
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
    """Check examples against the method's needs and decide who keeps a gold rationale.

    `words` is what a word is to the data set, which the settings may overrule; `notes` tells how the parts came about.
    """
    chosen, told = config.data, list(notes)
    if dev is None:
        parts = hold_out(train, config.seed)
        train, dev = parts.train, parts.dev
        told += parts.notes
    train = limit(train, chosen.limit, config.seed) if chosen.limit else train
    dev = limit(dev, chosen.dev_limit, config.seed) if chosen.dev_limit else dev
    require_ready(train, dev)
    about = method_class(config.method).about
    # A method that reads no gold can still learn from augmented copies, which are made of annotated examples.
    unread = chosen.gold_share if config.augment.kind != "none" else 0.0
    share = {"none": unread, "part": chosen.gold_share, "full": 1.0}[about.supervision]
    gold_ids = gold_subset(train, share, config.seed)
    _check_gold(about, len(gold_ids), len(train), chosen.gold_share)
    kept = set(gold_ids)
    seen = tuple(each if each.id in kept else _drop_rationale(each) for each in train)
    hidden = {each.id: each.shortcuts for each in train if each.id not in kept and each.shortcuts is not None}
    queries = {example.query for example in train}
    constant = len(queries) == 1 and None not in queries
    if chosen.query == "auto" and constant:
        told.append(f"every example has the same query ({queries.pop()!r}); it tells nothing and is not read")
    return TrainingData(
        train=seen,
        dev=tuple(dev),
        labels=labels_of(train),
        gold_ids=tuple(gold_ids),
        use_query=chosen.query == "always" or (chosen.query == "auto" and not constant),
        words=words if chosen.words == "auto" else chosen.words,
        notes=tuple(told),
        hidden_shortcuts=hidden,
    )


def drop_gold(data: TrainingData) -> TrainingData:
    """The same examples and copies for a method that may not see gold rationales."""
    train, augmented = (tuple(map(_drop_rationale, part)) for part in (data.train, data.augmented))
    return replace(data, train=train, augmented=augmented, gold_ids=())


def _drop_rationale(example: Example) -> Example:
    return replace(example, rationale=None, shortcuts=None)


def _check_gold(about: About, n_gold: int, n_train: int, share: float) -> None:
    if about.supervision != "none" and n_gold == 0:
        raise DataError(
            f"method {about.name} learns from gold rationales, but none of the {n_train} training examples may "
            f"show one (data.gold_share is {share:g}). Add `rationale` spans, raise data.gold_share, or use "
            "un_rat."
        )
    if about.needs_rest and (n_gold == n_train or share == 1):
        raise ConfigError(
            f"method {about.name} carries what it learns over to examples without a gold rationale, but "
            f"{n_gold} of {n_train} have one (data.gold_share is {share:g}). Lower data.gold_share (the paper: "
            "0.25), or use ssr_unif or sup_rat."
        )


def to_rows(
    encoded: Sequence[Encoded], data: TrainingData, copies: Sequence[Encoded] = ()
) -> dict[str, list[InputRow]]:
    """The pools `all`, `gold`, `rest` and `augmented`, one row per example (its first window)."""
    kept = set(data.gold_ids)
    pools: dict[str, list[InputRow]] = {"all": [], "gold": [], "rest": []}
    for item in encoded:
        row = _row(item, data)
        pools["all"].append(row)
        pools["gold" if row.id in kept else "rest"].append(row)
    return {**pools, "augmented": [_row(item, data) for item in copies]}


def _row(encoded: Encoded, data: TrainingData) -> InputRow:
    """The first window of an example, with its label's number and its marks."""
    example, window = encoded.example, encoded.windows[0]
    gold = window.touches(example.rationale) if example.rationale else None
    shortcuts = window.touches(example.shortcuts) if example.shortcuts else None
    label = data.labels.index(str(example.label))
    return InputRow(example.id, window, label, gold, shortcuts, data.environments.get(example.id, -1))


def truncation_note(text: TextEncoder, encoded: Sequence[Encoded]) -> str | None:
    """How much of the training texts, and of their gold, lies beyond the encoder's length."""
    cut = [item for item in encoded if item.cut_off is not None]
    if not cut:
        return None
    spans = [span for item in encoded for span in item.example.rationale or ()]
    lost = [
        span
        for item in cut
        for span in item.example.rationale or ()
        if item.cut_off and span.end > item.cut_off.start
    ]
    note = (
        f"{len(cut)} of {len(encoded)} training texts are longer than {text.max_tokens} pieces and were cut"
    )
    return note + (f"; {len(lost)} of {len(spans)} gold spans lie beyond the cut" if spans else "")
