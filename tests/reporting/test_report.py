from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import tiny_corpus
from html_page import Page
from made_results import HEALTH, with_metrics
from rationalize.evaluation.verdict import judge
from rationalize.metrics.health import ShareOf
from rationalize.reporting.report import ExampleView, Report, find_worst_mistakes, render_report, write_report
from rationalize.types import Example, Explanation, Span


@pytest.fixture
def report(results, explanation):
    example = Example("doc-1", explanation.text, "POS", rationale=(Span(2, 7),))
    wrong = replace(explanation, label="NEG")
    return Report(
        title="Three methods",
        summary="First.\n\nSecond.",
        results={"semi_rat": {"test": results}},
        curves={"semi_rat": [{"epoch": 0, "dev": {"task_f1": 0.5}, "losses": {"supervised.task": 1.0}}]},
        examples=[ExampleView(example, {"semi_rat": explanation, "un_rat": wrong})],
        mistakes=[ExampleView(example, {"un_rat": wrong})],
        config="seed: 0\n",
        commands=["rationalize train"],
    )


def test_a_full_report_is_well_formed_and_has_every_section(report):
    page = Page(render_report(report))
    assert page.open == []
    sections = ["metrics", "health", "curves", "confusion", "mistakes", "examples", "made"]
    assert [each for each in page.ids() if each in sections] == sections
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert links == [f"#{section}" for section in sections]


def test_warnings_come_before_everything_else(report):
    text = Page(render_report(report)).text
    assert text.index("The selector selects almost nothing.") < text.index("Metrics")
    assert "1 warning: read before" in text


def test_the_verdict_and_the_classes_are_shown(report, results):
    text = Page(render_report(replace(report, verdict=judge(results)))).text
    assert text.index("Verdict on test (8 examples): not good yet") < text.index("Metrics")
    assert "Labels by class" in text


def test_nothing_is_loaded_or_run(report):
    html = render_report(report)
    page = Page(html)
    assert "script" not in {tag for tag, _ in page.elements}
    assert not any(
        name in attributes for _, attributes in page.elements for name in ("src", "srcset", "action")
    )
    assert "default-src 'none'" in html
    assert "url(" not in html
    assert "@import" not in html


def test_hostile_text_is_text_everywhere(report, results, hostile, hostile_example):
    nasty = hostile.text
    health = replace(HEALTH, warnings=(nasty,), by_predicted={nasty: ShareOf(0.1, 0.0, 4)})
    bad = replace(results, health=health, confusion={nasty: {nasty: 1}})
    curve = [{"epoch": 0, "dev": {"task_f1": 0.5}, "losses": {nasty: 1.0}}]
    view = ExampleView(hostile_example, {nasty: hostile})
    nasty_report = Report(nasty, nasty, {nasty: {nasty: bad}}, {nasty: curve}, [view], [view], nasty, [nasty])
    page, ordinary = Page(render_report(nasty_report)), Page(render_report(report))
    assert page.open == []
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in ordinary.elements} | {"i"}
    known = {name for _, attributes in ordinary.elements for name in attributes}
    assert {name for _, attributes in page.elements for name in attributes} <= known
    assert "\x1b" not in page.text
    assert "49" not in page.text  # {{ 7*7 }} was not evaluated
    assert "<script>alert(1)</script>" in page.text


def test_examples_say_right_or_wrong_in_words_and_can_be_filtered(report):
    page = Page(render_report(report))
    assert "✓ right" in page.text
    assert "✗ wrong" in page.text
    classes = [attributes["class"] for tag, attributes in page.elements if tag == "article"]
    assert classes == ["document wrong", "document wrong disputed"]


@pytest.mark.parametrize(
    ("rationale", "note"),
    [(None, "No human rationale"), ((), "People marked nothing"), ((Span(0, 1),), None)],
)
def test_unannotated_and_empty_are_distinct(explanation, rationale, note):
    example = Example("1", explanation.text, None, rationale=rationale)
    text = Page(render_report(Report("t", examples=[ExampleView(example, {"a": explanation})]))).text
    assert [each for each in ("No human rationale", "People marked nothing") if each in text] == (
        [note] if note else []
    )
    assert "right" not in text.split("Examples")[-1]


def test_splits_have_a_table_each_and_ood_stands_beside_them(results):
    ood = with_metrics(results, task_f1_weighted=0.333)
    page = Page(render_report(Report("t", results={"a": {"test": results, "ood": ood}})))
    assert "test (8 examples)" in page.text
    assert "ood (8 examples)" in page.text
    assert page.text.count("33.3") == 2
    assert page.text.count("Out of domain") == 1


def test_an_empty_report_can_be_written(tmp_path):
    write_report(tmp_path / "new" / "report.html", Report("Nothing yet"))
    page = Page((tmp_path / "new" / "report.html").read_text(encoding="utf-8"))
    assert "Nothing yet" in page.text
    assert page.ids() == []


def said(example, label, sure):
    other = {"POS": "NEG", "NEG": "POS"}[label]
    return Explanation(example.text, label, {label: sure, other: 1 - sure}, (), (), (), (), True, "un_rat")


def test_the_worst_mistakes_are_the_surest():
    examples = [replace(each, label="POS") for each in tiny_corpus(4)]
    answers = [("NEG", 0.6), ("POS", 0.99), ("NEG", 0.9), ("NEG", 0.7)]
    pairs = [(e, said(e, label, sure)) for e, (label, sure) in zip(examples, answers, strict=True)]
    pairs.append((replace(examples[0], label=None), said(examples[0], "NEG", 1.0)))
    assert [each.id for each, _ in find_worst_mistakes(pairs, 2)] == [examples[2].id, examples[3].id]
