"""Checks for what is valid and yet hardly meant: field names that nearly fit, texts that nobody can see, links."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from rationalize.data._checks import ReadSplit
from rationalize.data.findings import Findings, shorten
from rationalize.data.read_options import ReadOptions

# Letters by their category that show nothing: fillers of Hangul, and the empty pattern of Braille.
_BLANK = "\u115f\u1160\u3164\uffa0\u2800"


def check_field_names(splits: Sequence[ReadSplit], findings: Findings, options: ReadOptions) -> None:
    """Report names such as `rationales` or `Label` where the field that is read is nowhere."""
    names = options.fields
    known = [
        names.text,
        names.label,
        names.id,
        names.query,
        names.rationale,
        "shortcuts",
        "documents",
        "tokens",
    ]
    for split in splits:
        present = split.tally.fields
        for name in sorted(map(str, present - set(known))):
            meant = get_close_matches(name.lower().strip(" _-"), known, n=1, cutoff=0.8)
            if meant and meant[0] not in present:
                findings.warning(
                    "field name nearly known",
                    split.file,
                    field=name,
                    seen=shorten(name),
                    expected=f"{meant[0]!r}, if that is meant: this field is not read",
                )


def check_visible(splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report texts with NUL characters, and texts without a single visible one."""
    for split in splits:
        for place, example in split.with_places():
            if example.text and not any(map(_is_visible, example.text)):
                findings.warning(
                    "text of invisible characters",
                    place,
                    field="text",
                    seen=shorten(example.text),
                    expected="words",
                )
            elif "\0" in example.text or "\0" in (example.query or ""):
                findings.warning("NUL in a text", place, field="text", seen="U+0000", expected="text")


def _is_visible(character: str) -> bool:
    return unicodedata.category(character)[0] not in "ZC" and character not in _BLANK


def check_links(path: Path, findings: Findings) -> None:
    """Report links in a data folder that lead out of it."""
    if not path.is_dir():
        return
    root = path.resolve()
    for each in _list_links(path):
        if not each.resolve().is_relative_to(root):
            findings.warning(
                "link out of the folder",
                str(each),
                seen=shorten(str(each.resolve())),
                expected="files of its own",
            )


def _list_links(path: Path) -> Iterable[Path]:
    return (each for each in sorted(path.rglob("*")) if each.is_symlink())
