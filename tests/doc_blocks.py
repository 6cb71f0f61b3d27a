"""Fenced blocks of Markdown pages, and how each is run: commands in-process, Python in one namespace per page."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
PAGES = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "README.md", *ROOT.glob("docs/*.md"))}

_BLOCK = re.compile(
    r"^(?:<!-- not executed:(?P<reason>[^\n]*)-->\n)?```(?P<language>\S*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block; `reason` is why it is not executed, None if it is."""

    page: str
    line: int
    language: str
    text: str
    reason: str | None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: str) -> list[Block]:
    text = PAGES[page].read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("text"))
        reason = match["reason"] and match["reason"].strip()
        found.append(Block(page, line, match["language"], match["text"], reason))
    return found


def run_block(block: Block, replaced: Mapping[str, str], names: dict[str, Any]) -> None:
    """Run a block in the current folder; YAML that starts with the name of a file is written to it."""
    text = block.text
    for old, new in replaced.items():
        text = text.replace(old, new)
    if block.language == "python":
        exec(compile(text, block.place, "exec"), names)
    elif block.language == "bash":
        for command in text.replace("\\\n", " ").splitlines():
            _run_command(shlex.split(command, comments=True), block.place)
    elif block.language == "yaml" and (name := re.match(r"# (\S+\.yaml)\n", text)):
        Path(name[1]).write_text(text, encoding="utf-8")


def _run_command(words: list[str], place: str) -> None:
    from rationalize.cli.main import app

    if not words:
        return
    assert words[0] == "rationalize", f"{place}: cannot run {words[0]!r} here; mark the block as not executed"
    before, sys.argv = sys.argv, words
    try:
        result = CliRunner().invoke(app, words[1:], input="y\n", catch_exceptions=False)
    finally:
        sys.argv = before
    assert result.exit_code == 0, f"{place}: {shlex.join(words)}\n{result.output}"
