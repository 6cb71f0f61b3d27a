"""What `data check` warns of although it can be read."""

from __future__ import annotations

import json

import pytest

from rationalize.data.validate import check


def write(folder, *rows):
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    (folder / "train.jsonl").write_text(text, encoding="utf-8")
    return check(folder)


def kinds(report):
    return {kind for severity, kind, _ in report.counts if severity == "warning"}


@pytest.mark.parametrize(
    ("name", "meant"),
    [("rationales", "rationale"), ("Rationale", "rationale"), ("querry", "query"), ("shortcut", "shortcuts")],
)
def test_field_names_that_nearly_fit(tmp_path, name, meant):
    report = write(tmp_path, {"text": "one two", "label": "a", name: None}, {"text": "three", "label": "b"})
    [found] = [each for each in report.problems if each.kind == "field name nearly known"]
    assert (found.field, repr(meant) in found.expected) == (name, True)
    fine = write(
        tmp_path, {"text": "one two", "label": "a", name: None, meant: None}, {"text": "x y", "label": "b"}
    )
    assert "field name nearly known" not in kinds(fine)


@pytest.mark.parametrize(
    "labels",
    [("Good", "good"), ("good", "good "), ("good", "go\u200bod"), ("caf\u00e9", "cafe\u0301"), ("a b", "ab")],
)
def test_labels_that_look_alike(tmp_path, labels):
    assert "labels spelled alike" in kinds(
        write(tmp_path, *({"text": f"t {each}", "label": each} for each in labels))
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [("\u3164 \u2800", "text of invisible characters"), ("one \0 two", "NUL in a text")],
)
def test_texts_that_nobody_can_see(tmp_path, text, kind):
    report = write(tmp_path, {"text": text, "label": "a"}, {"text": "three", "label": "b"})
    assert kind in kinds(report)


def test_names_that_stand_twice(tmp_path):
    report = write(tmp_path, '{"text": "one", "label": "a", "label": "b"}', {"text": "two", "label": "a"})
    [found] = [each for each in report.problems if each.kind == "name twice in a row"]
    assert (found.field, found.place) == ("label", str(tmp_path / "train.jsonl") + ":1")


def test_links_out_of_the_folder(tmp_path):
    inside = tmp_path / "data"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("x")
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "own.txt").symlink_to(inside / "train.jsonl")
    report = write(inside, {"text": "one two", "label": "a"}, {"text": "three", "label": "b"})
    assert [each.place for each in report.problems if each.kind == "link out of the folder"] == [
        str(inside / "link.txt")
    ]
