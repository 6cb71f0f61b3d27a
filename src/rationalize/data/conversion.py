"""From one format to another, or from one split to three: check everything, then write everything or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rationalize.data._dealing import TEST_SHARE
from rationalize.data._eraser_writer import write_eraser
from rationalize.data._parquet_writer import require_arrow, write_parquet
from rationalize.data._tabular import find_columns, write_table
from rationalize.data.annotation import FORMATS
from rationalize.data.data_files import ABOUT
from rationalize.data.data_stream import open_data
from rationalize.data.dataset import ReadableData
from rationalize.data.jsonl import write_jsonl
from rationalize.data.read_options import ReadOptions
from rationalize.data.remote_folder import RemoteFolder, find_remote, to_local
from rationalize.data.source import read_data
from rationalize.data.splits import make_splits
from rationalize.errors import ConfigError, DataError
from rationalize.files import MANIFEST, atomic_dir, write_json
from rationalize.format_names import WriteAs
from rationalize.text.words import PLAIN
from rationalize.types import Example

_TRIAL = ".rationalize-trial"
"""Written and removed before the work, to see whether a store takes it."""
TOOL_FILES = {"doccano": "{}.jsonl", "prodigy": "{}.jsonl", "brat": "{}"}
"""Names of a split's file, by annotation tool; of the others, `{}.json`."""
Watch = Callable[[str, Collection[Example]], Iterable[Example]]
"""Passes on the examples of a split, to show progress."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was written: rows of each split, and how often something could not be kept as it was."""

    out: str
    rows: dict[str, int]
    changes: dict[str, int]


def convert(
    source: Any,
    out: str | Path,
    to: WriteAs,
    options: ReadOptions | None = None,
    *,
    force: bool = False,
    watch: Watch = lambda split, examples: examples,
) -> Conversion:
    """Read a data set of any format and write it as a folder: `<split>.jsonl`, `.csv` or `.parquet`, for ERASER with
    `docs`.

    For an annotation tool, each split is a file that the tool imports with what people marked, for brat a sub-folder.
    Rows are read one at a time, several times over, except for ERASER's layout, whose documents are kept. A folder in
    a store (`s3://…`) is made on this machine first, and sent when it is complete.

    Raises:
        ConfigError: If `out` exists and may not be replaced.
        DataError: If a row cannot be read, or cannot be said in the other format.
    """
    store, place = find_remote(out), to_local(out)
    if store is None:
        require_free(place, force=force)
    else:
        _require_free_there(store, force=force)
    if to == "parquet":
        require_arrow()
    with open_data(source, options or ReadOptions()) as data:
        if store is None:
            return _write(data, data.splits, place, to, watch)
        with TemporaryDirectory(prefix="rationalize-") as temporary:
            made = Path(temporary) / "made"
            done = _write(data, data.splits, made, to, watch)
            _send(made, store)
        return replace(done, out=store.address)


def split_data(
    source: Any,
    out: Path,
    options: ReadOptions | None = None,
    *,
    dev: float | None = None,
    test: float = TEST_SHARE,
    seed: int = 0,
    force: bool = False,
) -> Conversion:
    """Write a data set that has one split as a folder of train, dev and test, see `make_splits`.

    Raises:
        ConfigError: If `out` exists and may not be replaced, or the shares are out of range.
        DataError: If a row cannot be read, or the data set has several splits.
    """
    require_free(out, force=force)
    data = read_data(source, options or ReadOptions())
    if len(data) > 1:
        raise DataError(
            f"{data.name}: saw the splits {', '.join(data)}, expected a data set that has one only."
        )
    (only,) = data.splits.values()
    parts = make_splits(only, dev=dev, test=test, seed=seed)
    return _write(data, parts, out, "jsonl", lambda split, examples: examples)


def _require_free_there(store: RemoteFolder, *, force: bool) -> None:
    """Refuse to replace anything in a store but, if forced, what this package wrote; see that it can be written to."""
    names = store.list_names()
    if names and MANIFEST not in names:
        raise ConfigError(
            f"{store.address}: exists and was not written by rationalize (it has no {MANIFEST}), so it is not "
            "replaced. Choose another place or remove it yourself.",
            field="out",
        )
    if names and not force:
        raise ConfigError(
            f"{store.address}: exists. Choose another place, or replace it.", field=("out", "force")
        )
    store.write(_TRIAL, b"")
    store.remove([_TRIAL])


def _send(made: Path, store: RemoteFolder) -> None:
    """Copy a folder to a store, its manifest last: a folder without one is not complete."""
    names = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    old = store.list_names()
    store.remove(old & {MANIFEST})
    for name in sorted(names, key=lambda name: name == MANIFEST):
        store.put(made / name, name)
    store.remove(sorted(old - set(names) - {MANIFEST}))


def _write(
    data: ReadableData, splits: Mapping[str, Collection[Example]], out: Path, to: WriteAs, watch: Watch
) -> Conversion:
    changes = {f"read: {kind}": times for kind, times in data.notes.items()}
    with atomic_dir(out) as folder:
        if to == "eraser":
            changes |= write_eraser(folder, {split: watch(split, each) for split, each in splits.items()})
        elif to in FORMATS:
            changes |= _write_for_tool(
                folder, {split: watch(split, each) for split, each in splits.items()}, to
            )
        else:
            for split, examples in splits.items():
                _write_split(folder / f"{split}.{to}", split, examples, watch)
            if data.words != PLAIN:
                write_json(folder / ABOUT, {"words": data.words})
    return Conversion(str(out), {split: len(examples) for split, examples in splits.items()}, changes)


def _write_split(path: Path, split: str, examples: Collection[Example], watch: Watch) -> None:
    if path.suffix == ".jsonl":
        write_jsonl(path, watch(split, examples))
        return
    columns = find_columns(examples)  # a table must know them before its first row
    if path.suffix == ".csv":
        write_table(path, watch(split, examples), list(columns))
    else:
        write_parquet(path, watch(split, examples), columns)


def _write_for_tool(folder: Path, splits: Mapping[str, Iterable[Example]], to: str) -> dict[str, int]:
    changes: Counter[str] = Counter()
    for split, examples in splits.items():
        changes.update(
            FORMATS[to].write(folder / TOOL_FILES.get(to, "{}.json").format(split), examples).changes
        )
    return dict(changes)


def require_free(out: Path, *, force: bool) -> None:
    """Refuse to replace anything but, if forced, a folder that this package wrote."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out.is_dir() and (out / MANIFEST).is_file()):
        raise ConfigError(
            f"{out}: exists and was not written by rationalize (it has no {MANIFEST}), so it is not "
            "replaced. Choose another place or remove it yourself.",
            field="out",
        )
    if not force:
        raise ConfigError(f"{out}: exists. Choose another place, or replace it.", field=("out", "force"))
