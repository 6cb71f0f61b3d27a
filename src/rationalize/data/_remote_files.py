"""Files in a store in the cloud, by address: `s3://…`, `gs://…`, `hf://…`, read through fsspec."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname

from rationalize.data._shard_names import is_pattern
from rationalize.data.data_files import SPLIT_FILES, Files, Place, choose_split_files, require_matches
from rationalize.errors import DataError

_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://")
PACKAGES = {
    "s3": ("s3fs", "pip install 'rationalize[s3]'"),
    "gs": ("gcsfs", "pip install 'rationalize[gs]'"),
    "hf": ("huggingface_hub", "pip install huggingface_hub"),
    "memory": ("fsspec", "pip install fsspec"),
}
"""What fsspec needs for each kind of address, and how to install it."""


def to_place(given: str | Path) -> Place:
    """Return a path for anything on this machine (`file://` included), the address itself for anything else."""
    text = str(given)
    if text.startswith("file://"):
        return Path(url2pathname(urlsplit(text).path))
    return text if isinstance(given, str) and _ADDRESS.match(text) else Path(given)


@dataclass(frozen=True, slots=True)
class RemoteFiles(Files):
    """Files of a store by their name relative to an address; `folder` is not used.

    Attributes:
        system: The fsspec file system.
        root: The address as the file system knows it.
    """

    is_local = False

    system: Any
    root: str

    def __contains__(self, name: str) -> bool:
        parts = PurePosixPath(name).parts
        return ".." not in parts and bool(self._ask(self.system.isfile, name))

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading bytes, some megabytes at a time."""
        # Buffered: the readers look ahead, which not every store's own stream can.
        return BufferedReader(self._ask(self.system.open, name))

    def split_files(self) -> list[str]:
        """Return the names of files in the folder itself that may hold a split."""
        found = self._ask(self.system.find, "", maxdepth=1)
        return choose_split_files(PurePosixPath(path).name for path in found)

    def has_folder(self, name: str) -> bool:
        """Return whether there is such a subfolder."""
        return bool(self._ask(self.system.isdir, name))

    def names_below(self, folder: str) -> set[str]:
        """Return the names of files below a subfolder, relative to it."""
        base = f"{self.root}/{folder}"
        return {
            PurePosixPath(path).relative_to(base).as_posix() for path in self._ask(self.system.find, folder)
        }

    def _ask(self, call: Callable[..., Any], name: str, **settings: Any) -> Any:
        with _explain_failure(self.place(name) if name else str(self.shown)):
            return call(f"{self.root}/{name}" if name else self.root, **settings)


def find_remote_files(address: str) -> tuple[RemoteFiles, list[str] | None]:
    """Find the files at an address, and which were asked for if it names one, or several by a pattern."""
    system = connect(address)
    with _explain_failure(address):
        path = str(system._strip_protocol(address)).rstrip("/")
        if is_pattern(path):
            found = [str(each) for each in system.glob(path)]
        elif system.isdir(path):
            return RemoteFiles(Path(), address.rstrip("/"), system, path), None
        else:
            found = [path] if system.isfile(path) else []
    if not found and not is_pattern(path):
        raise DataError(f"{address}: no such file or folder. Expected a data set.")
    if not is_pattern(path) and not path.endswith(SPLIT_FILES):
        known = ", ".join(SPLIT_FILES)
        raise DataError(f"{address}: unknown kind of file. Expected a folder or a file ending in {known}.")
    fixed = path.split("*")[0].split("?")[0].split("[")[0].rpartition("/")[0]
    names = [PurePosixPath(each).relative_to(fixed or "/").as_posix() for each in found]
    shown = address.partition("://")[0] + "://" + fixed.lstrip("/")
    return RemoteFiles(Path(), shown, system, fixed), require_matches(address, names)


def connect(address: str, done: str = "read") -> Any:
    """Return the file system of an address; `done` is what is to be done there, for messages.

    Raises:
        DataError: If there is none for such addresses, or it is not installed.
    """
    scheme = address.partition("://")[0]
    if scheme not in PACKAGES:
        known = ", ".join(f"{each}://" for each in ("file", *PACKAGES) if each != "memory")
        hint = " A single archive is fetched by `rationalize data get`." if scheme.startswith("http") else ""
        raise DataError(f"{address}: addresses of {scheme}:// cannot be {done}. Expected {known}.{hint}")
    for package in dict.fromkeys(("fsspec", PACKAGES[scheme][0])):
        if find_spec(package) is None:
            raise DataError(
                f"{address}: {scheme}:// is {done} with {package}, which is not installed. "
                f"Install it (`{PACKAGES[scheme][1]}`), or use files of this machine."
            )
    import fsspec

    with _explain_failure(address, done):
        return fsspec.filesystem(scheme)


@contextmanager
def _explain_failure(place: str, done: str = "read") -> Iterator[None]:
    """Turn whatever a store raises into an error of the data: each has errors of its own, of no common kind."""
    try:
        yield
    except Exception as error:
        raise DataError(
            f"{place}: cannot be {done}: {type(error).__name__}: {error}. Check the address and your access to it."
        ) from error
