"""From files to examples: readers and writers, checks, splits, fetching, and the planted corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.data.catalog import find_source as find_source
    from rationalize.data.catalog import get_data as get_data
    from rationalize.data.conversion import convert as convert
    from rationalize.data.conversion import split_data as split_data
    from rationalize.data.dataset import DataSet as DataSet
    from rationalize.data.example_stream import stream_examples as stream_examples
    from rationalize.data.jsonl import read_jsonl as read_jsonl
    from rationalize.data.jsonl import write_jsonl as write_jsonl
    from rationalize.data.planted import PlantedConfig as PlantedConfig
    from rationalize.data.planted import make_corpus as make_corpus
    from rationalize.data.read_options import Fields as Fields
    from rationalize.data.read_options import ReadOptions as ReadOptions
    from rationalize.data.source import load as load
    from rationalize.data.source import read_data as read_data
    from rationalize.data.splits import choose_gold as choose_gold
    from rationalize.data.splits import limit as limit
    from rationalize.data.splits import make_splits as make_splits
    from rationalize.data.stats import DataStats as DataStats
    from rationalize.data.stats import measure_data as measure_data
    from rationalize.data.validate import CheckReport as CheckReport
    from rationalize.data.validate import check as check

_HOMES = {
    "CheckReport": "validate",
    "DataSet": "dataset",
    "DataStats": "stats",
    "Fields": "read_options",
    "PlantedConfig": "planted",
    "ReadOptions": "read_options",
    "check": "validate",
    "convert": "conversion",
    "find_source": "catalog",
    "get_data": "catalog",
    "choose_gold": "splits",
    "limit": "splits",
    "load": "source",
    "make_corpus": "planted",
    "make_splits": "splits",
    "read_data": "source",
    "read_jsonl": "jsonl",
    "split_data": "conversion",
    "stream_examples": "example_stream",
    "measure_data": "stats",
    "write_jsonl": "jsonl",
}
__all__ = [
    "CheckReport",
    "DataSet",
    "DataStats",
    "Fields",
    "PlantedConfig",
    "ReadOptions",
    "check",
    "choose_gold",
    "convert",
    "find_source",
    "get_data",
    "limit",
    "load",
    "make_corpus",
    "make_splits",
    "measure_data",
    "read_data",
    "read_jsonl",
    "split_data",
    "stream_examples",
    "write_jsonl",
]
__getattr__ = open_room(__name__, _HOMES)
