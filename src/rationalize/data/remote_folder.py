"""A folder in a store in the cloud to write to: files that appear when they are complete, as stores have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from rationalize.data._remote_files import connect, to_place
from rationalize.errors import ConfigError


class RemoteFolder:
    """Files by their names relative to an address.

    Attributes:
        address: The address, as messages show it.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._system = connect(address, "written")
        self._root = str(self._system._strip_protocol(self.address)).rstrip("/")

    def list_names(self) -> set[str]:
        """List the files, those in folders below included; none if there is no such folder."""
        with self._explain_failure():
            self._system.invalidate_cache()
            try:
                found = self._system.find(self._root)
            except FileNotFoundError:
                return set()
            return {PurePosixPath(path).relative_to(self._root).as_posix() for path in found}

    def read(self, name: str) -> bytes:
        """Read a file."""
        with self._explain_failure():
            content: bytes = self._system.cat_file(f"{self._root}/{name}")
            return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file, or replace it."""
        with self._explain_failure():
            self._system.pipe_file(f"{self._root}/{name}", content)

    def put(self, path: Path, name: str) -> None:
        """Copy a file of this machine there, or replace what is there."""
        with self._explain_failure():
            self._system.put_file(str(path), f"{self._root}/{name}")

    def remove(self, names: Iterable[str]) -> None:
        """Remove files."""
        with self._explain_failure():
            for name in names:
                self._system.rm_file(f"{self._root}/{name}")

    @contextmanager
    def _explain_failure(self) -> Iterator[None]:
        """Turn whatever a store raises into an error of the output: each has errors of its own, of no common kind."""
        try:
            yield
        except Exception as error:
            raise ConfigError(
                f"{self.address}: cannot be written: {type(error).__name__}: {error}. Check the address and your "
                "access to it.",
                field="out",
            ) from error


def find_remote(out: str | Path) -> RemoteFolder | None:
    """Return the folder to write to if the output is an address; None: it is on this machine (`file://` too).

    Raises:
        DataError: If what such addresses need is not installed.
    """
    place = to_place(out)
    return RemoteFolder(place) if isinstance(place, str) else None


def to_local(out: str | Path) -> Path:
    """Return the path of an output on this machine."""
    return Path(to_place(out))
