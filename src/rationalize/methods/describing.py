"""Describe a method from its docstring, settings and costs, ready to be shown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from rationalize.methods.passes import Passes
from rationalize.methods.registry import About, method_class
from rationalize.methods.uniform import add_uniform_passes

GROUPS = {
    "none": "No gold rationales needed",
    "part": "Gold rationales for some training examples",
    "full": "Gold rationales for all training examples",
}
"""Groups of methods, by the annotation that they need."""

_HEADING = re.compile(r"\*\*(.+?)\*\* ")


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One of a method's own settings.

    Attributes:
        name: Its name in a run's config.
        default: Its value if nothing is said.
        meaning: What it does.
    """

    name: str
    default: Any
    meaning: str


@dataclass(frozen=True, slots=True)
class Description:
    """A method's description.

    Attributes:
        about: Title, reference and the like.
        passes: What training and explaining cost by default, the uniform term included.
        summary: First sentence of the docstring.
        sections: The docstring's sections by heading, in order; the numbers of passes are filled in.
        settings: Its own settings.
    """

    about: About
    passes: Passes
    summary: str
    sections: dict[str, str]
    settings: tuple[SettingRow, ...]


def describe_method(name: str) -> Description:
    """Describe one method."""
    cls = method_class(name)
    passes = collect_default_passes(name)
    summary, *paragraphs = (
        " ".join(paragraph.split()) for paragraph in inspect.cleandoc(cls.__doc__ or "").split("\n\n")
    )
    sections = dict(_split_sections(paragraphs))
    sections["Encoder passes"] = f"{passes.describe()} {sections.get('Encoder passes', '')}".strip()
    return Description(cls.about, passes, summary, sections, tuple(_list_settings(cls.Config, "options")))


def collect_default_passes(name: str) -> Passes:
    """Return what a method costs by default, with the uniform term and augmented copies if it uses those."""
    cls = method_class(name)
    passes = add_uniform_passes(cls.costs, cls.about) if cls.about.uniform_weight else cls.costs
    return passes.add_copies() if cls.about.augment != "none" else passes


def _split_sections(paragraphs: list[str]) -> Iterator[tuple[str, str]]:
    """Split into headings and texts; a paragraph without a heading belongs to the one before it."""
    heading, text = "", ""
    for paragraph in paragraphs:
        if found := _HEADING.match(paragraph):
            if heading:
                yield heading, text
            heading, text = found[1], paragraph[found.end() :]
        else:
            text = f"{text} {paragraph}".strip()
    if heading:
        yield heading, text


def _list_settings(config: type[BaseModel], prefix: str) -> Iterator[SettingRow]:
    """List every setting of a config, nested ones by dotted name."""
    for name, field in config.model_fields.items():
        default = field.get_default()
        if isinstance(default, BaseModel):
            yield from _list_nested(default, f"{prefix}.{name}")
        else:
            yield SettingRow(f"{prefix}.{name}", default, " ".join((field.description or "").split()))


def _list_nested(section: BaseModel, prefix: str) -> Iterator[SettingRow]:
    """List a section's settings; its defaults may differ from those of its class."""
    for row in _list_settings(type(section), prefix):
        own = section
        for part in row.name.removeprefix(f"{prefix}.").split("."):
            own = getattr(own, part)
        yield SettingRow(row.name, own, row.meaning)
