"""A method in its own words: what its docstring, its settings and its numbers say, ready to be shown."""

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
"""By what one needs to have."""

_HEADING = re.compile(r"\*\*(.+?)\*\* ")


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One of a method's own settings, by its name in a run's config."""

    name: str
    default: Any
    meaning: str


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a method without training it.

    Attributes:
        about: Title, reference and the like.
        passes: What training and explaining cost by default, with everything that the method asks for.
        summary: First sentence of the docstring.
        sections: What the docstring says under its headings, in order; the numbers of passes filled in.
        settings: Its own settings.
    """

    about: About
    passes: Passes
    summary: str
    sections: dict[str, str]
    settings: tuple[SettingRow, ...]


def describe_method(name: str) -> Description:
    """Everything about one method."""
    cls = method_class(name)
    passes = default_passes(name)
    summary, *paragraphs = (
        " ".join(paragraph.split()) for paragraph in inspect.cleandoc(cls.__doc__ or "").split("\n\n")
    )
    sections = dict(_split_sections(paragraphs))
    sections["Encoder passes"] = f"{passes.describe()} {sections.get('Encoder passes', '')}".strip()
    return Description(cls.about, passes, summary, sections, tuple(_list_settings(cls.Config, "options")))


def default_passes(name: str) -> Passes:
    """What a method costs by default, with the uniform term if it asks for that."""
    about = method_class(name).about
    return add_uniform_passes(about.passes, about) if about.uniform_weight else about.passes


def _split_sections(paragraphs: list[str]) -> Iterator[tuple[str, str]]:
    """Headings and what stands under them; a paragraph without one belongs to the heading before it."""
    heading, said = "", ""
    for paragraph in paragraphs:
        if found := _HEADING.match(paragraph):
            if heading:
                yield heading, said
            heading, said = found[1], paragraph[found.end() :]
        else:
            said = f"{said} {paragraph}".strip()
    if heading:
        yield heading, said


def _list_settings(config: type[BaseModel], prefix: str) -> Iterator[SettingRow]:
    """Every setting of a config, nested ones by dotted name."""
    for name, field in config.model_fields.items():
        default = field.get_default()
        if isinstance(default, BaseModel):
            yield from _list_nested(default, f"{prefix}.{name}")
        else:
            yield SettingRow(f"{prefix}.{name}", default, " ".join((field.description or "").split()))


def _list_nested(section: BaseModel, prefix: str) -> Iterator[SettingRow]:
    """The same of a section, whose defaults may differ from those of its class."""
    for row in _list_settings(type(section), prefix):
        own = section
        for part in row.name.removeprefix(f"{prefix}.").split("."):
            own = getattr(own, part)
        yield SettingRow(row.name, own, row.meaning)
