"""The house stands as CONTRIBUTING draws it: a room imports only rooms above it, lazily or not."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import rationalize

PACKAGE = Path(rationalize.__file__).parent
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"


def drawn_rooms() -> list[tuple[str, ...]]:
    """The floors of the picture in CONTRIBUTING, from the ground up; rooms on one floor do not know each other."""
    picture = CONTRIBUTING.read_text(encoding="utf-8").split("```house\n")[1].split("```")[0]
    names = [line[: line.index("  ")] for line in picture.splitlines()]
    return [tuple(name.strip().removesuffix(".py") for name in floor.split("·")) for floor in names]


FLOORS = drawn_rooms()
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
VALUES = (
    "types",
    "errors",
    "seeding",
    "files",
    "locks",
    "printable",
    "interrupts",
    "yaml_text",
    "format_names",
    "flat_memory",
    "lazy_sequence",
    "config",
    "version",
    "devices",
    "processes",
    "children",
    "_rooms",
)
FRONT = ("rationalizer", "_estimator", "_hub", "_texts", "_trained", "_saving", "_training_input")


def room_of(module: str) -> str:
    first = [*module.split("."), ""][1]
    if first == "__main__":
        return "cli"
    return "values" if first in VALUES else "rationalizer" if first in FRONT else first


def imports_of(path: Path) -> set[str]:
    """Every module of the package that a file names in an import statement, wherever the statement stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return {name for name in found if name.split(".")[0] == "rationalize" and name != "rationalize"}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_a_room_imports_only_rooms_before_it(path):
    own = room_of(module_of(path))
    if not own:
        return  # the package itself re-exports from anywhere
    others = {room_of(name) for name in imports_of(path)} - {own}
    assert {other for other in others if FLOOR[other] >= FLOOR[own]} == set()


def test_every_room_is_drawn():
    rooms = {room_of(module_of(path)) for path in FILES} - {""}
    assert rooms == set(FLOOR)


def test_one_file_name_means_one_thing():
    names = Counter(path.name for path in FILES if path.name != "__init__.py")
    assert [name for name, times in names.items() if times > 1] == []


def test_one_public_class_name_means_one_thing():
    names = Counter(
        node.name
        for path in FILES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


# Rooms whose files are all meant for other people: verbs, methods, definitions of metrics, formats of tools.
OPEN = ("cli", "methods", "metrics", "data.annotation")


def homes_of(path: Path) -> set[str]:
    """The modules in which a room's `__init__` finds what it exports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    homes = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "_HOMES"
    ]
    named = {value.value for each in homes if isinstance(each, ast.Dict) for value in each.values}
    return {f"{module_of(path)}.{home}" for home in named} | imports_of(path)


def test_a_module_that_only_its_room_imports_is_marked():
    users: dict[str, set[str]] = {module_of(path): set() for path in FILES}
    for path in FILES:
        for name in imports_of(path) & users.keys():
            users[name].add(room_of(module_of(path)))
    for path in (CONTRIBUTING.parent / "benchmarks").glob("*.py"):
        for name in imports_of(path) & users.keys():
            users[name].add("benchmarks")
    offered = set().union(*(homes_of(path) for path in FILES if path.name == "__init__.py"))
    offered.add("rationalize.serving.app")  # `create_app` is called from outside the package
    unmarked = [
        name
        for name, rooms in users.items()
        if rooms <= {room_of(name)}
        and name.count(".") >= 2
        and not name.rpartition(".")[2].startswith("_")
        and name not in offered
        and not name.startswith(tuple(f"rationalize.{room}" for room in OPEN))
        and not (PACKAGE.parent / name.replace(".", "/")).is_dir()
    ]
    assert unmarked == []


def test_nothing_that_a_room_exports_hides_behind_a_module_of_the_same_name():
    for path in PACKAGE.glob("*/__init__.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        listed = [
            node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
        ]
        names = {each.value for values in listed if isinstance(values, ast.List) for each in values.elts}
        assert names.isdisjoint(each.stem for each in path.parent.glob("*.py")), path
