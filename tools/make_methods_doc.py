"""Write docs/methods.md from what the methods say of themselves: `make docs`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rationalize.files import to_json, write_text
from rationalize.methods.describing import GROUPS, Description, describe_method
from rationalize.methods.registry import list_names

PATH = Path(__file__).parents[1] / "docs" / "methods.md"

HEAD = """# Methods

Written by `make docs` from the methods themselves (`src/rationalize/methods/`); `rationalize methods NAME` shows
the same. A label is *faithful* if it depends on the selected words alone. Passes count how often an encoder reads each
text, in a training step (phase by phase) and for an explanation: nearly all that a method costs.
"""


def main() -> None:
    """Write the page."""
    write_text(PATH, render_page())


def render_page() -> str:
    """The whole page."""
    found = [describe_method(name) for name in list_names()]
    parts = [HEAD, *_index(found)]
    for supervision, title in GROUPS.items():
        parts += [f"\n## {title}\n"]
        parts += [_render_method(each) for each in found if each.about.supervision == supervision]
    return "\n".join(parts)


def _index(found: Iterable[Description]) -> Iterator[str]:
    gold = {"none": "none", "part": "some", "full": "all"}
    yield _row("id", "name", "gold", "faithful", "passes: train", "explain", "how it works", "reference")
    yield "|" + "---|" * 8
    for supervision in GROUPS:
        for each in found:
            about = each.about
            if about.supervision == supervision:
                yield _row(
                    f"[`{about.name}`](#{about.name})",
                    about.title,
                    gold[supervision],
                    "yes" if about.faithful else "no",
                    each.passes.shorten(),
                    f"{each.passes.explain:g}",
                    about.headline,
                    about.cite,
                )


def _render_method(method: Description) -> str:
    about = method.about
    decided = "the selected words alone" if about.faithful else "more than the selected words"
    lines = [
        f"### {about.name}",
        f"**{about.title}** · {about.reference}",
        f"{GROUPS[about.supervision]}; the label depends on {decided}.",
        method.summary,
        *(f"**{heading}** {said}" for heading, said in method.sections.items()),
    ]
    return "\n\n".join([*lines, _settings(method)]) + "\n"


def _settings(method: Description) -> str:
    if not method.settings:
        return "No settings of its own."
    rows = [_row(f"`{row.name}`", f"`{_value(row.default)}`", row.meaning) for row in method.settings]
    return "\n".join([_row("setting", "default", "meaning"), "|---|---|---|", *rows])


def _value(default: Any) -> str:
    return default if isinstance(default, str) else to_json(default, indent=None)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    main()
