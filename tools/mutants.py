"""Do the tests notice when the arithmetic is wrong? Change it in one place at a time, and see: `make mutants`.

The tests are collected once, and run once to see which of them call what. For every mutant the process forks, exchanges
the code of one function and runs the tests that call it, the quick ones first, until one fails; the mutant is killed
then, or when it never ends. Text, annotations and defaults are left as they are.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
TARGETS = (
    *sorted((SOURCE / "rationalize/metrics").glob("*.py")),
    *(SOURCE / "rationalize/models").glob("losses*.py"),
)
TESTS = (
    "tests/metrics",
    "tests/models/test_losses.py",
    "tests/models/test_bottleneck.py",
    "tests/models/test_games.py",
)
SECONDS = 60
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "sum": "len"}


@dataclass(frozen=True)
class Mutant:
    """One function of one module with one change."""

    module: str
    function: str
    line: int
    change: str
    code: CodeType | None = None

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.change}"


def list_changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield what can be changed at a node: words for it, and a function that does it to a copy of the node."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            new = SWAPS.get(type(operator))
            if new is not None:
                yield (
                    f"{_name(operator)} to {new.__name__}",
                    lambda it, i=index, n=new: it.ops.__setitem__(i, n()),
                )
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        new = SWAPS.get(type(node.op))
        if new is not None:
            yield f"{_name(node.op)} to {new.__name__}", lambda it, n=new: setattr(it, "op", n())
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "condition denied", lambda it: setattr(it, "test", ast.UnaryOp(ast.Not(), it.test))
    elif (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        return  # mostly the last of two dimensions, which is also the second
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield (
            f"without {_name(node.op)}",
            lambda it: setattr(it, "op", ast.UAdd() if isinstance(it.op, ast.USub) else _Bool()),
        )
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        new_value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{node.value} to {new_value}", lambda it, v=new_value: setattr(it, "value", v)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
        other = CALLS[node.func.id]
        yield f"{node.func.id} to {other}", lambda it, o=other: setattr(it, "func", ast.Name(o, ast.Load()))
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield "returns None", lambda it: setattr(it, "value", ast.Constant(None))


def _name(node: ast.AST) -> str:
    return type(node).__name__


class _Bool(ast.Not):
    """Stands for `not not`, which is put in below."""


def list_mutants(path: Path) -> Iterator[Callable[[], Mutant]]:
    """Yield a function that makes it, for every mutant of a file."""
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for name, function in _list_functions(tree.body, ""):
        for node in [node for statement in function.body for node in _walk(statement)]:
            line = getattr(node, "lineno", function.lineno)
            for change, apply in list_changes(node):
                yield partial(_make_mutant, tree, node, apply, Mutant(module, name, line, change))


def _make_mutant(tree: ast.Module, node: ast.AST, apply: Callable[[Any], object], mutant: Mutant) -> Mutant:
    """Compile the module with the change, which is taken back afterwards."""
    before = {name: list(value) if isinstance(value, list) else value for name, value in vars(node).items()}
    apply(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, _Bool):
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    code = compile(ast.fix_missing_locations(tree), mutant.module, "exec")
    vars(node).update(before)
    return replace(mutant, code=_find_code(code, mutant.function.split(".")))


def _list_functions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods by their qualified names; what is inside of them belongs to them."""
    for each in body:
        if isinstance(each, ast.FunctionDef):
            yield f"{prefix}{each.name}", each
        elif isinstance(each, ast.ClassDef):
            yield from _list_functions(each.body, f"{prefix}{each.name}.")


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node, but not what is only read by people: what is raised, text, annotations."""
    if isinstance(node, ast.Raise | ast.JoinedStr):
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from _walk(each)


def _find_code(code: CodeType, names: list[str]) -> CodeType:
    for name in names:
        code = next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)
    return code


def find_function(module: ModuleType, name: str) -> FunctionType:
    """Find the function itself, below what decorates it."""
    found: Any = module
    for part in name.split("."):
        found = vars(found)[part] if isinstance(found, type) else getattr(found, part)
    while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):
        inner = (
            getattr(found, "__wrapped__", None)
            or getattr(found, "fget", None)
            or getattr(found, "func", None)
        )
        found = inner or found.__func__
    return found


class Watch:
    """A plugin of pytest that sees which test calls which function, and how long it takes."""

    def __init__(self) -> None:
        self.calls: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        self._seen: set[CodeType] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Look at everything that is called for one test."""
        self._seen = set()
        began = time.perf_counter()
        sys.setprofile(self._look)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            self.seconds[item.nodeid] = time.perf_counter() - began
            self.calls.setdefault(item.nodeid, set()).update(map(_name_code, self._seen))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        """What was called before the test itself, fixtures share with the other tests of the file."""
        self.calls.setdefault(str(item.path), set()).update(map(_name_code, list(self._seen)))

    def _look(self, frame: Any, event: str, arg: object) -> None:
        if event == "call":
            self._seen.add(frame.f_code)

    def write(self, items: list[Any], path: Path) -> None:
        """Write for every function the numbers of the tests that call it, the quick ones first."""
        callers: dict[str, list[int]] = {}
        for index in sorted(range(len(items)), key=lambda index: self.seconds[items[index].nodeid]):
            for name in self.calls[items[index].nodeid] | self.calls.get(str(items[index].path), set()):
                if name.startswith(str(SOURCE)):
                    callers.setdefault(name, []).append(index)
        path.write_text(json.dumps(callers), encoding="utf-8")


def _name_code(code: CodeType) -> str:
    """File and function; what is inside of a function belongs to it."""
    return f"{code.co_filename}:{code.co_qualname.split('.<locals>')[0]}"


class Loop:
    """A plugin of pytest that runs the collected tests once for every mutant."""

    def __init__(self, mutants: list[Mutant], seconds: float) -> None:
        self.mutants, self.seconds = mutants, seconds
        self.callers: dict[str, list[int]] = {}
        self.survived: list[Mutant] = []
        self.killed = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Instead of running the tests once, run them in forks."""
        with TemporaryDirectory() as folder:
            watched = Path(folder) / "callers.json"
            if self._fork(lambda: _watch_items(session, watched), 20 * SECONDS):
                raise pytest.UsageError("the tests fail without any mutant")
            self.callers = json.loads(watched.read_text(encoding="utf-8"))
        end = time.monotonic() + self.seconds
        for mutant in self.mutants:
            if time.monotonic() > end:
                break
            if self._run(session, mutant):
                self.killed += 1
            else:
                self.survived.append(mutant)
                print(f"survived: {mutant}", flush=True)
            done = self.killed + len(self.survived)
            if done % 50 == 0:
                print(f"so far attempted {done}, killed {self.killed}", flush=True)
        return True

    def _run(self, session: Any, mutant: Mutant) -> int:
        function = find_function(importlib.import_module(mutant.module), mutant.function)
        items = [session.items[index] for index in self.callers.get(_name_code(function.__code__), [])]

        def work() -> int:
            if mutant.code is not None:
                function.__code__ = mutant.code
            return _run_items(session, items)

        return self._fork(work, SECONDS)

    def _fork(self, work: Callable[[], int], seconds: int) -> int:
        """Do something quietly in another process; returns how it ended."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                quiet = os.open(os.devnull, os.O_WRONLY)
                os.dup2(quiet, 1)
                os.dup2(quiet, 2)
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
                code = work()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        return status


def _watch_items(session: Any, path: Path) -> int:
    """Run all tests and write down what they call."""
    watch = Watch()
    session.config.pluginmanager.register(watch)
    if _run_items(session, session.items):
        return 1
    watch.write(session.items, path)
    return 0


def _run_items(session: Any, items: list[Any]) -> int:
    """Run tests until one fails."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return 1
    return 0


def main() -> None:
    """Print what survived, and the figures; fail below the wanted share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="modules whose name has this in it")
    parser.add_argument("--every", type=int, default=1, help="take only every so-manieth mutant")
    parser.add_argument("--seconds", type=float, default=7200)
    parser.add_argument("--least", type=float, default=0.85, help="share that must be killed")
    chosen = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    paths = [path for path in TARGETS if chosen.only in path.stem and path.stem != "__init__"]
    mutants = [make() for make in [make for path in paths for make in list_mutants(path)][:: chosen.every]]
    for mutant in mutants:
        find_function(importlib.import_module(mutant.module), mutant.function)
    loop = Loop(mutants, chosen.seconds)
    os.environ["HYPOTHESIS_PROFILE"] = "steady"
    if pytest.main(
        ["-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:terminal", "-m", "not slow", *TESTS],
        plugins=[loop],
    ):
        sys.exit("the tests could not be run")
    done = loop.killed + len(loop.survived)
    share = loop.killed / max(done, 1)
    figures = {
        "mutants": len(mutants),
        "attempted": done,
        "killed": loop.killed,
        "survived": len(loop.survived),
    }
    print(json.dumps(figures), f"{share:.1%} killed")
    sys.exit(share < chosen.least)


if __name__ == "__main__":
    main()
