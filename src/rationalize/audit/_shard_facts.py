"""What an audit notes about every document besides its words: id, place among the folds, values of its columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

import numpy as np

from rationalize.audit._column_values import Value, list_metadata
from rationalize.audit._text_statistics import list_statistics
from rationalize.seeding import derive_seed
from rationalize.shortcuts.phrases import Ints
from rationalize.shortcuts.shard_arrays import ShardArrays, load_texts, save_texts
from rationalize.shortcuts.word_corpus import DocumentShards, WordCorpus


def note_facts(corpus: WordCorpus, seed: int) -> None:
    """Note the facts about the documents of every shard."""
    for _ in corpus.crew.map(partial(_note_shard, corpus.documents, corpus.arrays, seed), corpus.shards):
        pass


def _note_shard(documents: DocumentShards, arrays: ShardArrays, seed: int, number: int) -> None:
    examples = documents.read_shard(number)
    save_texts(arrays, number, "document-ids", [json.dumps(example.id) for example in examples])
    seeds = [derive_seed(seed, "audit fold", example.text) for example in examples]
    arrays.save(number, "fold-seeds", np.array(seeds, dtype=np.int64))
    lengths = np.bincount(arrays.load(number, "documents"), minlength=len(examples))
    columns = [(name, False, values) for name, values in list_metadata(examples).items()]
    columns += [(name, True, values) for name, values in list_statistics(examples, lengths).items()]
    names = [json.dumps([name, measured]) for name, measured, _ in columns]
    save_texts(arrays, number, "columns", names)
    for index, (_, _, values) in enumerate(columns):
        distinct, codes = factorize(values)
        save_texts(arrays, number, f"column-values-{index}", [json.dumps(distinct)])
        arrays.save(number, f"column-codes-{index}", codes)


def factorize(values: Sequence[Value]) -> tuple[list[Value], Ints]:
    """Return the different values in the order in which they come, and the number of each document's value."""
    numbers: dict[tuple[type, Value], int] = {}
    codes = [numbers.setdefault((type(value), value), len(numbers)) for value in values]
    return [value for _, value in numbers], np.array(codes, dtype=np.int32)


def load_ids(arrays: ShardArrays, number: int) -> list[str]:
    """Return the ids of the documents of a shard."""
    return [json.loads(each) for each in load_texts(arrays, number, "document-ids")]


def load_fold_seeds(corpus: WordCorpus) -> Ints:
    """Return a number for every document, by which those of one label are shuffled; equal texts have the same."""
    return np.concatenate([corpus.arrays.load(number, "fold-seeds") for number in range(corpus.shards)])


def list_column_names(corpus: WordCorpus) -> list[tuple[str, bool]]:
    """List the columns of all documents, and whether each is measured on the text: those that are not first."""
    found = {
        tuple(json.loads(name))
        for number in range(corpus.shards)
        for name in load_texts(corpus.arrays, number, "columns")
    }
    given = sorted(name for name, measured in found if not measured)
    measured = list(list_statistics([], np.zeros(0, np.int64)))
    return [*((name, False) for name in given), *((name, True) for name in measured)]


def load_column(corpus: WordCorpus, name: str, *, measured: bool) -> tuple[list[Value], Ints]:
    """Return the different values of a column, and the number of each document's value."""
    numbers: dict[tuple[type, Value], int] = {}
    parts = []
    for number in range(corpus.shards):
        names = load_texts(corpus.arrays, number, "columns")
        size = corpus.documents.bounds[number + 1] - corpus.documents.bounds[number]
        values, codes = [None], np.zeros(size, dtype=np.int32)
        if (wanted := json.dumps([name, measured])) in names:
            index = names.index(wanted)
            values = json.loads(load_texts(corpus.arrays, number, f"column-values-{index}")[0])
            codes = corpus.arrays.load(number, f"column-codes-{index}")
        known = [numbers.setdefault((type(value), value), len(numbers)) for value in values]
        parts.append(np.array(known, dtype=np.int32)[codes])
    return [value for _, value in numbers], np.concatenate(parts)
