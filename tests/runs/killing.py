"""Training that is killed by SIGKILL at a chosen place, many times over in little time.

A warm process (this file, run as a script) forks for every training it is asked for. In the fork, everything that
steps, writes, flushes, renames or removes passes by a counter; at the chosen count the fork kills itself, in the
middle of the write if it is one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

PATIENCE_S = 120


class Warm:
    """The warm process, seen from the tests."""

    def __init__(self) -> None:
        here = Path(__file__).parent
        places = [str(here), str(here.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "PYTHONPATH": os.pathsep.join(places),
        }
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def train(
        self,
        folder: Path,
        *,
        die_at: int | None = None,
        resume: bool = False,
        cached: bool = False,
        refusal: int | None = None,
    ) -> dict[str, Any]:
        """Train in a fork. Says by which `signal` it ended (0: it did not) and which `places` it passed.

        With `refusal`, an error number, the disk refuses what is done at `die_at` instead.
        """
        request = {
            "folder": str(folder),
            "die_at": die_at,
            "resume": resume,
            "cached": cached,
            "refusal": refusal,
        }
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the warm process itself ended, with code {self.process.wait()}")
        return json.loads(answer)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Doom:
    """Counts the places that a training passes, and ends it at one of them."""

    def __init__(self, folder: Path, at: int | None, refusal: int | None = None) -> None:
        self.folder, self.at, self.refusal = folder, at, refusal
        self.places: list[str] = []

    def pass_by(self, what: str, path: Any = "", torn: Callable[[], object] = lambda: None) -> None:
        """One place; `torn` is what a half-done act would leave behind."""
        if len(self.places) == self.at:
            torn()
            if self.refusal is None:
                os.kill(os.getpid(), signal.SIGKILL)
            self.places.append("refused")
            raise OSError(self.refusal, os.strerror(self.refusal), str(path) or None)
        self.places.append(f"{what} {self._name(path)}".strip())

    def _name(self, path: Any) -> str:
        name = str(path).removeprefix(f"{self.folder}/")
        return re.sub(r"-\d+(?=/|$)", "", name) if ".part-" in name or ".old-" in name else name

    def watch(self) -> None:
        """Let everything that a run does to weights and disk pass by here."""
        import safetensors.torch

        from rationalize import files
        from rationalize.training import loop
        from rationalize.training.optim import Players

        self._before(os, "replace", lambda source, target, **_: ("rename to", target))
        self._before(os, "fsync", lambda handle: ("flush", Path(f"/proc/self/fd/{handle}").readlink()))
        self._before(os, "unlink", lambda path, **_: ("remove", path))
        self._before(os, "rmdir", lambda path, **_: ("remove", path))
        self._before(Players, "step", lambda *_: ("step",))
        files.atomic_file = self._tearing(files.atomic_file)
        save = safetensors.torch.save_file
        self._before(
            safetensors.torch,
            "save_file",
            lambda tensors, path: ("write", path, lambda: (save(tensors, path), halve(Path(path)))),
        )
        self._before(
            loop.Trainer,
            "_write_row",
            lambda trainer, row: (
                "write a row of",
                trainer.log,
                lambda: half(trainer.log, json.dumps(row).encode()),
            ),
        )

    def _tearing(self, atomic_file: Callable[[Path], Any]) -> Callable[[Path], Any]:
        """Text files that may be left half written."""

        @contextmanager
        def watched(path: Path) -> Iterator[Any]:
            with atomic_file(path) as file:
                whole = file.write

                def write(text: str) -> int:
                    self.pass_by("write", file.name, lambda: (whole(text[: len(text) // 2]), file.flush()))
                    return whole(text)

                yield SimpleNamespace(write=write)

        return watched

    def _before(self, owner: Any, name: str, place: Callable[..., tuple[Any, ...]]) -> None:
        original = getattr(owner, name)

        def watched(*args: Any, **named: Any) -> Any:
            self.pass_by(*place(*args, **named))
            return original(*args, **named)

        setattr(owner, name, watched)


def half(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data[: len(data) // 2])


def halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def in_a_fork(request: dict[str, Any]) -> dict[str, Any]:
    """Train, and report how that ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE_S)
        code = 1
        try:
            os.write(writing, json.dumps(train_watched(**request)).encode())
            code = 0
        except OSError as error:
            code = 3 if error.errno == request["refusal"] else 1
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with open(reading, "rb") as pipe:  # noqa: PTH123  # a pipe has no path
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    ended = {"signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, "status": status}
    return {**ended, **(json.loads(said) if said else {"places": [], "messages": []})}


def train_watched(
    folder: str, die_at: int | None, resume: bool, cached: bool, refusal: int | None
) -> dict[str, Any]:
    import runs_helpers as runs

    cache = {"training": {"warm_start": 1, "cache": f"{folder}-cache"}} if cached else {}
    doom = Doom(Path(folder), die_at, refusal)
    doom.watch()
    display = runs.run(runs.small_config(**cache), Path(folder), resume=resume)
    return {"places": doom.places, "messages": display.messages}


def serve() -> None:
    """Answer requests, one per line."""
    import runs_helpers as runs
    import torch

    torch.set_num_threads(1)  # a fork of a process with threads may hang
    with tempfile.TemporaryDirectory() as folder:
        runs.run(
            runs.small_config(), Path(folder) / "run"
        )  # everything that is imported late is imported now
    for line in sys.stdin:
        print(json.dumps(in_a_fork(json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
