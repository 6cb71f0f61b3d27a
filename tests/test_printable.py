"""Text of unknown origin: nothing that a terminal obeys, or that reorders a line, is printed, by anybody."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rationalize
from rationalize.errors import DataError
from rationalize.printable import make_json_printable, make_printable, make_visible, to_one_line
from rationalize.types import Explanation, Span

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ANY = st.text(st.characters() | st.sampled_from("\x1b\x9b\r\x07\u202e\u2066\x00[/]"), max_size=30)


@given(ANY)
def test_nothing_that_a_terminal_obeys_is_left(text):
    assert not OBEYED.search(make_printable(text))
    assert not OBEYED.search(to_one_line(text))
    assert "\n" not in to_one_line(text)
    make_visible(text).encode()


@given(st.recursive(ANY, lambda inner: st.lists(inner, max_size=3), max_leaves=4))
def test_json_stays_the_same_value(value):
    printed = make_json_printable(json.dumps(value, ensure_ascii=False))
    assert not OBEYED.search(printed)
    assert json.loads(printed) == value


def test_an_explanation_and_an_error_print_no_codes():
    text = "a\x1b]0;owned\x07 b\u202e"
    made = Explanation(text, "\x1b[2J", {"\x1b[2J": 1.0}, (Span(0, 14),), (), (), (), True, "un_rat")
    assert str(made) == "␛[2J (1.00): a␛]0;owned␇ b�"
    assert str(DataError(f"label {text}")) == "label a␛]0;owned␇ b�"


PACKAGE = Path(rationalize.__file__).parent
DOOR = PACKAGE / "reporting" / "terminal.py"


def list_prints(path: Path) -> list[str]:
    """Every way of printing that a file uses itself."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in ("print", "Console", "typer.echo", "typer.secho", "click.echo") or re.search(
                r"std(out|err)\.(buffer\.)?write(lines)?$|rich\.(print|console)", name
            ):
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {name}")
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "rich"
            and any(each.name == "print" for each in node.names)
        ):
            found.append(f"{path.relative_to(PACKAGE)}:{node.lineno} rich.print")
    return found


def test_nothing_prints_but_through_the_one_door():
    assert list_prints(DOOR)
    assert [each for path in PACKAGE.rglob("*.py") if path != DOOR for each in list_prints(path)] == []


@pytest.mark.parametrize("markup", ["[/x]", "[bold", "[link=http://x]y[/link]", ":smile:", "\\[a]"])
def test_markup_in_text_is_only_text(markup, capsys):
    from rich.table import Table

    from rationalize.reporting.terminal import echo, make_console

    console = make_console(wide=True)
    table = Table(title=markup)
    table.add_column(markup)
    table.add_row(f"{markup}\x1b[2J")
    console.print(table)
    console.print(f"{markup}\x1b[2J")
    console.rule(markup)
    echo(f"{markup}\x1b[2J")
    printed = capsys.readouterr().out
    assert printed.count(markup) == 6
    assert printed.count("␛[2J") == 3
    assert "\x1b" not in printed
