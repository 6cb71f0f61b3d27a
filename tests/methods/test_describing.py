"""Methods in their own words: nothing is left unsaid, and the page is the one that would be written now."""

from __future__ import annotations

import pytest
from tools import make_methods_doc

from rationalize.methods.describing import describe_method
from rationalize.methods.registry import list_names


@pytest.mark.parametrize("name", list_names())
def test_every_setting_has_a_meaning_and_every_heading_something_to_say(name):
    found = describe_method(name)
    assert [row.name for row in found.settings if not row.meaning] == []
    assert all(found.sections.values())
    assert found.sections["Encoder passes"].startswith(found.passes.describe())


def test_defaults_are_the_method_s_own():
    """MCD draws hard masks, unlike the settings that it shares with others."""
    settings = {row.name: row.default for row in describe_method("mcd").settings}
    assert settings["options.selection.sampler"] == "gumbel_hard"


def test_paragraphs_stay_paragraphs():
    """A line of a docstring that begins with + or - must not become the item of a list."""
    assert "; + λ1 ·" in describe_method("reinforce").sections["Objective"]


def test_the_page_is_what_the_methods_say():
    written = make_methods_doc.PATH.read_text(encoding="utf-8")
    assert written == make_methods_doc.render_page(), "run `make docs`"
