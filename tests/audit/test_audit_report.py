from __future__ import annotations

import io
from dataclasses import replace

import pytest
from audit_texts import planted
from rich.console import Console

from html_page import Page
from rationalize.audit._audit import audit
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_report import AuditView, render_audit, write_audit
from rationalize.audit.audit_result import Effect

NASTY = "<script>alert(1)</script> [red]& \x1b[31m{{ 7*7 }}\u202e"


@pytest.fixture(scope="module")
def found():
    examples = planted(100, pos="it ran on many screens .", neg="they shelved it for years .")
    return audit(examples, AuditConfig(semantic=False, sample=20), name="mine")


def printed(found, width):
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(AuditView(found))
    return console.file.getvalue()


def test_the_page_is_well_formed_and_loads_nothing(found):
    html = render_audit(found, "rationalize shortcuts audit mine")
    page = Page(html)
    assert page.open == []
    assert "script" not in {tag for tag, _ in page.elements}
    assert not any(
        name in attributes for _, attributes in page.elements for name in ("src", "srcset", "action")
    )
    assert "default-src 'none'" in html
    assert "url(" not in html
    assert found.verdict in page.text
    assert found.caution in page.text
    assert page.text.count("⟨it ran on many screens⟩") >= 1
    links = {attributes["href"] for tag, attributes in page.elements if tag == "a"}
    assert links == {f"#{each['id']}" for _, each in page.elements if "id" in each}


def test_hostile_text_is_text(found):
    phrase = found.suspected[0]
    context = replace(phrase.contexts[0], id=NASTY, label=NASTY, text=NASTY, shortcuts=(), gold=())
    bad = replace(
        phrase,
        words=NASTY,
        pattern=NASTY,
        label=NASTY,
        contexts=(context,),
        fillers=((NASTY,),),
        variants=(NASTY,),
    )
    nasty = replace(
        found,
        name=NASTY,
        labels={NASTY: 1},
        suspected=(bad,),
        evidence=(bad,),
        notes=(NASTY,),
        effects=(Effect(NASTY, 1, 0.5, 0.5, 0.5),),
        predictor=NASTY,
    )
    page, ordinary = Page(render_audit(nasty, NASTY)), Page(render_audit(found, "x"))
    assert page.open == []
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in ordinary.elements} | {"li", "section"}
    assert "<script>alert(1)</script>" in page.text
    assert "49" not in page.text
    assert "\x1b" not in page.text
    text = printed(nasty, 400)
    assert "\x1b" not in text
    assert "[red]&" in text


@pytest.mark.parametrize("width", [80, 160])
def test_the_terminal_shows_every_phrase_and_the_verdict(found, width):
    text = printed(found, width)
    assert max(map(len, text.splitlines())) <= width
    assert "it ran on many screens" in text
    assert "they shelved it for years" in text
    assert "2 fixed phrases correlate with a label, in 100 of 100 documents." in " ".join(text.split())


def test_a_clean_bill_is_shown_too(found, tmp_path):
    clean = audit(planted(60), AuditConfig(semantic=False), name="clean")
    write_audit(tmp_path / "new" / "clean.html", clean)
    assert clean.verdict in Page((tmp_path / "new" / "clean.html").read_text(encoding="utf-8")).text
    assert "No fixed phrase" in printed(clean, 100)
