"""Everything that a process does to the files below one folder passes by here, one operation at a time.

`os`, `open` and the writers in other languages (safetensors, tokenizers) are replaced in this process. Before each
operation a callback is called, which may kill the process, refuse the operation, or write it down.
"""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(frozen=True)
class Operation:
    """One change of the disk: create, write, cut, sync, sync all, rename, unlink, rmdir or mkdir; or a read.

    Attributes:
        kind: Which of these.
        path: What is changed.
        target: The new name, of a rename.
        offset: Where a write begins, or the size that is cut to.
        data: What is written.
        half: Does one half of a write.
        undo: Takes that back.
        native: The error that a writer in another language makes of a refusal.
    """

    kind: str
    path: str
    target: str = ""
    offset: int = 0
    data: bytes = b""
    half: Callable[[], object] | None = None
    undo: Callable[[], object] | None = None
    native: Callable[[OSError], Exception] | None = None

    def strip(self) -> tuple[str, str, str, int, bytes]:
        return self.kind, self.path, self.target, self.offset, self.data


class FileLayer:
    """Calls `before` with each operation below `root`."""

    def __init__(self, root: Path, before: Callable[[Operation], None]) -> None:
        self.root = os.path.realpath(root)
        self.before = before
        self.handles: dict[int, str] = {}
        self.real = {name: getattr(os, name) for name in _REPLACED}
        self.open = io.open

    def install(self, *, native: bool = True) -> None:
        """Replace what Python writes with and, if wanted, the writers in other languages."""
        for name in _REPLACED:
            setattr(os, name, getattr(self, f"_{name}"))
        io.open = builtins.open = self._open_file
        if native:
            self._watch_native_writers()

    def _find(self, path: Any, dir_fd: int | None = None) -> str | None:
        """The path, if it is below the root."""
        if isinstance(path, int):
            return self.handles.get(path)
        path = os.fsdecode(path)
        if dir_fd is not None:
            if dir_fd not in self.handles:
                return None
            path = os.path.join(self.handles[dir_fd], path)
        path = os.path.abspath(path)
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        return path if path == self.root or path.startswith(f"{self.root}/") else None

    def _open(self, path, flags, mode=0o777, *, dir_fd=None):
        found = self._find(path, dir_fd)
        if found is not None and flags & WRITING:
            self._announce_opening(found, bool(flags & os.O_TRUNC))
        handle = self.real["open"](path, flags, mode, dir_fd=dir_fd)
        if found is not None:
            self.handles[handle] = found
        return handle

    def _announce_opening(self, path: str, cuts: bool) -> None:
        if not os.path.lexists(path):
            self.before(Operation("create", path))
        elif cuts and os.path.getsize(path):
            self.before(Operation("cut", path))

    def _close(self, handle):
        self.handles.pop(handle, None)
        self.real["close"](handle)

    def _write(self, handle, data):
        if handle in self.handles:
            offset, data = os.lseek(handle, 0, os.SEEK_CUR), bytes(data)
            half = lambda: self.real["write"](handle, data[: len(data) // 2])  # noqa: E731
            undo = self.remember_size(handle)
            self.before(
                Operation("write", self.handles[handle], offset=offset, data=data, half=half, undo=undo)
            )
        return self.real["write"](handle, data)

    def remember_size(self, handle: int) -> Callable[[], object]:
        """What gives an open file the size and place again that it has now."""
        size, place = os.fstat(handle).st_size, os.lseek(handle, 0, os.SEEK_CUR)

        def undo() -> None:
            self.real["ftruncate"](handle, size)
            os.lseek(handle, place, os.SEEK_SET)

        return undo

    def _fsync(self, handle):
        number = handle if isinstance(handle, int) else handle.fileno()
        if number in self.handles:
            self.before(Operation("sync", self.handles[number]))
        return self.real["fsync"](handle)

    def _sync(self):
        self.before(Operation("sync all", self.root))

    def _replace(self, source, target, **named):
        path, new = self._find(source, named.get("src_dir_fd")), self._find(target, named.get("dst_dir_fd"))
        if path is not None or new is not None:
            self.before(Operation("rename", path or os.fsdecode(source), target=new or os.fsdecode(target)))
        return self.real["replace"](source, target, **named)

    _rename = _replace

    def _unlink(self, path, *, dir_fd=None):
        return self._take_away("unlink", os.path.lexists, path, dir_fd)

    _remove = _unlink

    def _rmdir(self, path, *, dir_fd=None):
        return self._take_away("rmdir", os.path.isdir, path, dir_fd)

    def _take_away(self, kind: str, is_there: Callable[[str], bool], path: Any, dir_fd: int | None) -> Any:
        found = self._find(path, dir_fd)
        if found is not None and is_there(found):
            self.before(Operation(kind, found))
        return self.real[kind](path, dir_fd=dir_fd)

    def _mkdir(self, path, mode=0o777, *, dir_fd=None):
        found = self._find(path, dir_fd)
        if found is not None and not os.path.lexists(found) and os.path.isdir(os.path.dirname(found)):
            self.before(Operation("mkdir", found))
        return self.real["mkdir"](path, mode, dir_fd=dir_fd)

    def _truncate(self, path, length):
        found = self._find(path)
        if found is not None:
            self.before(Operation("cut", found, offset=length))
        return self.real["truncate"](path, length)

    _ftruncate = _truncate

    def _open_file(
        self,
        file,
        mode="r",
        buffering=-1,
        encoding=None,
        errors=None,
        newline=None,
        closefd=True,
        opener=None,
    ):
        found = None if isinstance(file, int) else self._find(file)
        if found is None:
            return self.open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if not set(mode) & set("wax+"):
            if os.path.isfile(found):
                self.before(Operation("read", found))
            return self.open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        self._announce_opening(found, "w" in mode)
        raw = _WatchedFile(self, found, mode.replace("b", "").replace("t", ""))
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        text = io.TextIOWrapper(buffered, encoding or "utf-8", errors, newline, write_through=False)
        text.mode = mode
        return text

    def _watch_native_writers(self) -> None:
        import safetensors.torch
        from safetensors import SafetensorError
        from transformers import PreTrainedTokenizerFast

        save_file, save_tokenizer = safetensors.torch.save_file, PreTrainedTokenizerFast._save_pretrained

        def say(error: OSError) -> str:
            return f"{error.strerror} (os error {error.errno})"

        def save(tensors, path, *args, **named):
            raised = lambda error: SafetensorError(f"Error while serializing: I/O error: {say(error)}")  # noqa: E731
            self._write_whole(path, lambda: save_file(tensors, path, *args, **named), raised)

        def save_all(tokenizer, save_directory, *args, **named):
            made = []
            path = os.path.join(save_directory, "tokenizer.json")
            write = lambda: made.append(save_tokenizer(tokenizer, save_directory, *args, **named))  # noqa: E731
            self._write_whole(path, write, lambda error: Exception(say(error)))
            return made[0]

        safetensors.torch.save_file = save
        PreTrainedTokenizerFast._save_pretrained = save_all

    def _write_whole(self, path, write: Callable[[], object], native: Callable[[OSError], Exception]) -> None:
        """A file that somebody writes at once, out of sight."""
        found = self._find(path)
        if found is None:
            write()
            return
        data: list[bytes] = []

        def half() -> None:
            write()
            self.real["truncate"](found, os.path.getsize(found) // 2)

        self.before(Operation("create", found, native=native))
        self.before(_Late("write", found, half=half, native=native, written=data))
        write()
        with self.open(found, "rb") as file:
            data.append(file.read())


@dataclass(frozen=True)
class _Late(Operation):
    """A write whose bytes are known only afterwards."""

    written: tuple[bytes, ...] | list[bytes] = ()

    def strip(self) -> tuple[str, str, str, int, bytes]:
        return self.kind, self.path, "", 0, b"".join(self.written)


class _WatchedFile(io.FileIO):
    """A file whose writes pass by; the buffers on top of it are Python's own."""

    def __init__(self, layer: FileLayer, path: str, mode: str) -> None:
        super().__init__(path, mode)
        self.layer, self.place = layer, path
        layer.handles[self.fileno()] = path

    def write(self, data):
        if not self.closed:
            given = bytes(data)
            offset = os.path.getsize(self.place) if "a" in self.mode else self.tell()
            half = lambda: super(_WatchedFile, self).write(given[: len(given) // 2])  # noqa: E731
            undo = self.layer.remember_size(self.fileno())
            self.layer.before(Operation("write", self.place, offset=offset, data=given, half=half, undo=undo))
        return super().write(data)

    def truncate(self, size=None):
        self.layer.before(Operation("cut", self.place, offset=self.tell() if size is None else size))
        return super().truncate(size)

    def close(self):
        if not self.closed:
            self.layer.handles.pop(self.fileno(), None)
        super().close()


_REPLACED = ("open", "close", "write", "fsync", "sync", "replace", "rename", "unlink", "remove", "rmdir", "mkdir",
             "truncate", "ftruncate")  # fmt: skip
