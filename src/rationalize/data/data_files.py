"""The files of one data set, in a folder or in an archive."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from rationalize.data.archives import unpack
from rationalize.errors import DataError
from rationalize.files import MANIFEST

ARCHIVES = (".tar.gz", ".tgz", ".zip")
SPLIT_FILES = (".jsonl", ".csv", ".tsv", ".json", ".parquet")
SOURCE = "SOURCE.json"
"""Where a folder was got from."""
ABOUT = "DATASET.json"
"""What a folder of ours says about its rows that they cannot say themselves: `{"words": "whitespace"}`."""
_NO_SPLITS = frozenset({"docs.jsonl", MANIFEST, SOURCE, ABOUT})


@dataclass(frozen=True, slots=True)
class Files:
    """Files by their name relative to the data set's folder.

    Attributes:
        folder: Where they can be opened.
        shown: The user's name for it: the folder itself, or the archive it was unpacked from.
    """

    folder: Path
    shown: Path

    def place(self, name: str) -> str:
        """Return a file as messages show it."""
        return str(self.shown / name)

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
        found = (path.name for path in self.folder.iterdir() if path.is_file())
        return sorted(name for name in found if name.endswith(SPLIT_FILES) and name not in _NO_SPLITS)

    def names_below(self, folder: str) -> set[str]:
        """Return the names of files below a subfolder, relative to it."""
        base = self.folder / folder
        return {path.relative_to(base).as_posix() for path in base.rglob("*") if path.is_file()}


@contextmanager
def open_files(path: Path) -> Iterator[tuple[Files, str | None]]:
    """Yield the files at a path, and the one file that was asked for if the path names a single file.

    An archive is unpacked into a temporary folder that is gone afterwards.
    """
    if path.is_dir():
        yield Files(*_descend(path, path)), None
    elif not path.is_file():
        raise DataError(f"{path}: no such file or folder. Expected a data set; see `rationalize data get`.")
    elif path.name.endswith(SPLIT_FILES):
        yield Files(path.parent, path.parent), path.name
    elif path.name.endswith(ARCHIVES):
        with tempfile.TemporaryDirectory(prefix="rationalize-") as folder:
            unpack(path, Path(folder))
            yield Files(*_descend(Path(folder), path)), None
    else:
        known = ", ".join((*SPLIT_FILES, *ARCHIVES))
        raise DataError(f"{path}: unknown kind of file. Expected a folder or a file ending in {known}.")


def _descend(folder: Path, shown: Path) -> tuple[Path, Path]:
    """Step into a lone sub-folder, as archives often wrap the data in several."""
    try:
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    except OSError as error:
        raise DataError(f"{shown}: cannot be listed: {error.strerror}.") from error
    if len(entries) == 1 and entries[0].is_dir() and entries[0].name != "docs":
        return _descend(entries[0], shown / entries[0].name)
    return folder, shown
