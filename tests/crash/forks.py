"""Commands that are started in forks of one warm process, and may be killed, refused or written down on their way.

A command costs what it does, not the seconds that its imports take. This file, run as a script, is the warm process.
"""

from __future__ import annotations

import errno
import functools
import gc
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE_S = 300


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        signal: The signal that killed it; 0: none.
        code: Its exit code.
        said: What it printed to stderr.
        operations: The file operations that it did, `kind path` each.
        seconds: How long it took.
    """

    signal: int
    code: int
    said: str
    operations: list[str]
    seconds: float


class Warm:
    """The warm process, as seen by the tests."""

    def __init__(self, folder: Path) -> None:
        here = Path(__file__).parent
        places = [str(here), str(here.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "RATIONALIZE_CACHE": "off",
            "PYTHONPATH": os.pathsep.join(places),
        }
        self.data = folder / "data"
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, family: str, root: Path, **how: Any) -> Ended:
        """Do the work of a family in `root`, or continue it.

        Args:
            family: Which.
            root: Where.
            how: `die_at`: the number of the operation at which it is killed, half done; `refuse`: an error number,
                with which that operation is refused instead, and `lasting`: all later ones, too; `die_twice_at`:
                operations at which a double of the process is killed so, and what it leaves kept beside `root`
                (`name_left`); `kill_after_s`; `trace`: a file to write all operations to, with their bytes; `reads`:
                count reading, too.
        """
        self.process.stdin.write(json.dumps({"family": family, "root": str(root), **how}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the warm process itself ended, with code {self.process.wait()}")
        return Ended(**json.loads(answer))

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def name_left(root: Path, number: int) -> Path:
    """Where that is kept which a killed double left."""
    return root.with_name(f"{root.name}.left-{number}")


class Fate:
    """Counts the operations, and does what is to be done at one of them."""

    def __init__(
        self,
        root: Path,
        die_at: int | None = None,
        refuse: int | None = None,
        lasting: bool = False,
        die_twice_at: Sequence[int] = (),
        reads: bool = False,
    ) -> None:
        self.root, self.die_at, self.refuse, self.lasting = str(root), die_at, refuse, lasting
        self.die_twice_at, self.reads = set(die_twice_at), reads
        self.passed: list[Any] = []

    def meet(self, operation: Any) -> None:
        if operation.kind == "read" and not self.reads:
            return
        number = len(self.passed)
        self.passed.append(operation)
        if number in self.die_twice_at:
            self._kill_double(operation, number)
        if self.die_at is None or number < self.die_at or (number > self.die_at and not self.lasting):
            return
        if operation.half is not None:
            operation.half()
        if self.refuse is None:
            os.kill(os.getpid(), signal.SIGKILL)
        # A full disk still lets go of what is removed.
        if self.refuse == errno.ENOSPC and operation.kind in ("unlink", "rmdir", "read"):
            return
        error = OSError(self.refuse, os.strerror(self.refuse), operation.path)
        raise error if operation.native is None else operation.native(error)

    def _kill_double(self, operation: Any, number: int) -> None:
        double = os.fork()
        if double == 0:
            try:
                if operation.half is not None:
                    operation.half()
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(double, 0)
        shutil.copytree(self.root, name_left(Path(self.root), number))
        if operation.undo is not None:
            operation.undo()

    def list_names(self) -> list[str]:
        return [f"{each.kind} {(each.target or each.path).removeprefix(self.root)}" for each in self.passed]


def run_in_fork(
    family: str, root: str, kill_after_s: float | None = None, trace: str | None = None, **fate: Any
) -> Ended:
    reading, writing = os.pipe()
    said = Path(f"{root}.said")
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE_S)
        code = 1
        try:
            code = _work(family, Path(root), said, trace, writing, fate)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    killer = None
    if kill_after_s is not None:
        killer = threading.Timer(kill_after_s, os.kill, (child, signal.SIGKILL))
        killer.start()
    with open(reading, "rb") as pipe:  # noqa: PTH123  # a pipe has no path
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if killer is not None:
        killer.cancel()
        killer.join()
    text = said.read_text(errors="replace") if said.exists() else ""
    said.unlink(missing_ok=True)
    return Ended(
        os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        os.waitstatus_to_exitcode(status),
        text,
        json.loads(told) if told else [],
        time.monotonic() - began,
    )


def _work(family: str, root: Path, said: Path, trace: str | None, pipe: int, how: dict[str, Any]) -> int:
    """Run the command with what it prints in a file; returns its exit code."""
    from families import make_command
    from file_layer import FileLayer

    from rationalize.cli.main import main

    root.mkdir(parents=True, exist_ok=True)
    for number, path in ((1, os.devnull), (2, said)):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    command = make_command(family, DATA, root)
    fate = Fate(root, **how)
    FileLayer(root, fate.meet).install()
    sys.argv = ["rationalize", *command]
    code = 0
    try:
        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    os.write(pipe, json.dumps(fate.list_names()).encode())
    if trace is not None:
        Path(trace).write_bytes(pickle.dumps([each.strip() for each in fate.passed]))
    return code


DATA = Path()


def serve(folder: Path) -> None:
    """Answer requests, one per line."""
    import file_layer  # noqa: F401  # forks need not compile it
    import torch
    import typer.main
    from families import make_command, write_data

    global DATA
    DATA = folder / "data"
    torch.set_num_threads(1)  # a fork of a process with threads may hang
    # Else all commands are made from their signatures every time.
    typer.main.get_command = functools.cache(typer.main.get_command)
    write_data(DATA)
    known: set[str] = set()
    for line in sys.stdin:
        request = json.loads(line)
        if request["family"] not in known:
            known.add(request["family"])
            _import_all(make_command(request["family"], DATA, folder / "warm" / request["family"]))
            gc.collect()
            gc.freeze()  # what the garbage collector does not touch, a fork need not copy
        print(json.dumps(vars(run_in_fork(**request))), flush=True)


def _import_all(command: list[str]) -> None:
    """Do the work once in this process, so that everything that is imported late is imported now."""
    from rationalize.cli.main import app

    stdout = sys.stdout
    with open(os.devnull, "w") as sys.stdout:  # noqa: PTH123
        app(command, standalone_mode=False)
    sys.stdout = stdout


if __name__ == "__main__":
    sys.modules["forks"] = sys.modules["__main__"]
    serve(Path(sys.argv[1]))
