"""The files of one data set: in a folder, in an archive, named by a pattern, or in a store in the cloud."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, ClassVar

from rationalize.data._shard_names import is_pattern, sort_shards
from rationalize.data.archives import unpack
from rationalize.errors import DataError
from rationalize.files import MANIFEST

ARCHIVES = (".tar.gz", ".tgz", ".zip")
SPLIT_FILES = (".jsonl", ".csv", ".tsv", ".json", ".parquet")
SOURCE = "SOURCE.json"
"""Where a folder was got from."""
ABOUT = "DATASET.json"
"""What a folder of ours says about its rows that they cannot say themselves: `{"words": "whitespace"}`."""
Place = Path | str
"""Where data are: a path, or the address of a store (`s3://bucket/posts-*.jsonl`)."""
_NO_SPLITS = frozenset({"docs.jsonl", MANIFEST, SOURCE, ABOUT})


@dataclass(frozen=True, slots=True)
class Files:
    """Files by their name relative to the data set's folder.

    Attributes:
        folder: Where they can be opened.
        shown: The user's name for it: the folder itself, the archive it was unpacked from, or an address.
    """

    is_local: ClassVar[bool] = True
    """Whether `folder` can be used."""

    folder: Path
    shown: Place

    def place(self, name: str) -> str:
        """Return a file as messages show it."""
        return f"{self.shown}/{name}" if isinstance(self.shown, str) else str(self.shown / name)

    def __contains__(self, name: str) -> bool:
        # Names come from the data (`docid`), so one that leads elsewhere is simply not there.
        path = PurePosixPath(name)
        inside = not path.is_absolute() and ".." not in path.parts and "\0" not in name
        return inside and len(path.name.encode("utf-8", "replace")) < 256 and (self.folder / name).is_file()

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading bytes."""
        try:
            return (self.folder / name).open("rb")
        except OSError as error:
            raise DataError(f"{self.place(name)}: cannot be read: {error.strerror}.") from error

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        with self.open(name) as stream:
            return stream.read()

    def split_files(self) -> list[str]:
        """Return the names of files in the folder itself that may hold a split."""
        return choose_split_files(path.name for path in self.folder.iterdir() if _is_listed(path))

    def has_folder(self, name: str) -> bool:
        """Return whether there is such a subfolder."""
        return (self.folder / name).is_dir()

    def names_below(self, folder: str) -> set[str]:
        """Return the names of files below a subfolder, relative to it."""
        base = self.folder / folder
        return {path.relative_to(base).as_posix() for path in base.rglob("*") if path.is_file()}


@contextmanager
def open_files(place: Place) -> Iterator[tuple[Files, list[str] | None]]:
    """Yield the files at a place, and those that were asked for if it names one file, or several by a pattern.

    An archive is unpacked into a temporary folder that is gone afterwards.
    """
    if isinstance(place, str):
        from rationalize.data._remote_files import find_remote_files

        yield find_remote_files(place)
        return
    path = place
    if path.is_dir():
        yield Files(*_descend(path, path)), None
    elif not path.exists() and is_pattern(str(path)):
        yield _match(path)
    elif not path.is_file():
        raise DataError(f"{path}: no such file or folder. Expected a data set; see `rationalize data get`.")
    elif path.name.endswith(SPLIT_FILES):
        yield Files(path.parent, path.parent), [path.name]
    elif path.name.endswith(ARCHIVES):
        with tempfile.TemporaryDirectory(prefix="rationalize-") as folder:
            unpack(path, Path(folder))
            yield Files(*_descend(Path(folder), path)), None
    else:
        known = ", ".join((*SPLIT_FILES, *ARCHIVES))
        raise DataError(f"{path}: unknown kind of file. Expected a folder or a file ending in {known}.")


def choose_split_files(names: Iterable[str]) -> list[str]:
    """Return the names that may be those of splits, sorted."""
    return sorted(name for name in names if name.endswith(SPLIT_FILES) and name not in _NO_SPLITS)


def require_matches(pattern: Place, names: list[str]) -> list[str]:
    """Return the matches of a pattern in the order of their numbers.

    Raises:
        DataError: If there are none, or some are no files of rows.
    """
    known = ", ".join(SPLIT_FILES)
    if not names:
        raise DataError(f"{pattern}: no file matches. Expected some that end in {known}.")
    strange = next((name for name in names if not name.endswith(SPLIT_FILES)), None)
    if strange is not None:
        raise DataError(
            f"{pattern}: matches {strange}, an unknown kind of file. Expected files ending in {known}."
        )
    return sort_shards(names)


def _match(pattern: Path) -> tuple[Files, list[str]]:
    """Find the files that a pattern matches, by their names below its last folder without a wildcard."""
    first = next(index for index, part in enumerate(pattern.parts) if is_pattern(part))
    folder = Path(*pattern.parts[:first])
    below = str(Path(*pattern.parts[first:]))
    names = [path.relative_to(folder).as_posix() for path in folder.glob(below) if _is_listed(path)]
    return Files(folder, folder), require_matches(pattern, names)


def _is_listed(path: Path) -> bool:
    """Return whether it is a file, or a link to one that is gone: opening it is an error, and it is not passed over."""
    return path.is_file() or (path.is_symlink() and not path.exists())


def _descend(folder: Path, shown: Path) -> tuple[Path, Path]:
    """Step into a lone sub-folder, as archives often wrap the data in several."""
    try:
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    except OSError as error:
        raise DataError(f"{shown}: cannot be listed: {error.strerror}.") from error
    if len(entries) == 1 and entries[0].is_dir() and entries[0].name != "docs":
        return _descend(entries[0], shown / entries[0].name)
    return folder, shown
