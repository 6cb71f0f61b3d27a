"""The only way to a terminal: whatever is printed here has lost its control codes, and no text is read as markup."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rationalize.files import to_json
from rationalize.printable import make_json_printable, make_printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleRenderable

PIPE_WIDTH = 160
"""Columns where there is no terminal; the usual guess of 80 would turn every table on its side."""


def echo(text: str = "", *, err: bool = False) -> None:
    """Print lines of text."""
    _write(make_printable(text) + "\n", err=err)


def echo_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a value as JSON; what is not fit for a terminal is escaped, so that the value stays the same."""
    _write(make_json_printable(to_json(value, indent=indent)) + "\n", err=False)


def _write(text: str, *, err: bool) -> None:
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    # A terminal that cannot show a character gets a question mark, not a traceback.
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def make_console(*, stderr: bool = False, wide: bool = False) -> Console:
    """Make a console for tables, rules and styled text.

    Args:
        stderr: Write to standard error.
        wide: Do not fold to 80 columns where there is no terminal.
    """
    from rich.console import Console

    plain: dict[str, Any] = {"stderr": stderr, "markup": False, "emoji": False, "highlight": False}
    console = Console(**plain)
    if wide and not console.is_terminal:
        console = Console(**plain, width=PIPE_WIDTH)
    return guard_console(console)


def guard_console(console: Console) -> Console:
    """Let nothing but printable text through a console, whatever is given to it to render."""
    from rich.console import ConsoleOptions, RenderHook, RenderResult
    from rich.control import Control
    from rich.segment import Segment

    class Printable:
        def __init__(self, renderable: ConsoleRenderable) -> None:
            self.renderable = renderable

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for text, style, control in console.render(self.renderable, options):
                yield Segment(text if control else make_printable(text), style, control)

    class Guard(RenderHook):
        def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
            return list(self.guard(renderables))

        def guard(self, renderables: Iterable[ConsoleRenderable]) -> Iterable[ConsoleRenderable]:
            for each in renderables:
                yield each if isinstance(each, Control) else Printable(each)

    console.push_render_hook(Guard())
    return console
