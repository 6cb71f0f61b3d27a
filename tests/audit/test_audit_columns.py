from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from audit_texts import NOUNS, VERBS, label_of, planted, review

from rationalize.audit._audit import audit
from rationalize.audit._column_values import NONE, group_values
from rationalize.audit._columns import guess_from_groups
from rationalize.audit._text_statistics import SIGNS
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_report import render_audit
from rationalize.audit.whole_audit import audit_data
from rationalize.files import to_json
from rationalize.seeding import python_random

QUICK = AuditConfig(semantic=False, sample=20)


def with_platform(n: int = 400, share: float = 0.8):
    """Texts that tell nothing but by their opinion, from a platform that agrees with the label in a share of them."""
    agree = python_random(0, "platform")
    rows = []
    for index, example in enumerate(planted(n)):
        side = (example.label == "POS") == (agree.random() < share)
        metadata = {"platform": "forum" if side else "chat", "row": index, "moderator": f"m{index % 7}"}
        rows.append(replace(example, metadata=metadata))
    return rows


@pytest.fixture(scope="module")
def found():
    return audit(with_platform(), QUICK, name="posts")


def test_a_platform_that_gives_the_label_away_is_the_first_thing_said(found):
    first = found.columns[0]
    assert (first.name, first.measured, first.values, first.suspected) == ("platform", False, 2, True)
    assert first.accuracy == pytest.approx(0.8, abs=0.05)
    assert first.majority == 0.5
    assert first.p_value < 1e-15
    assert {(each.value, each.label) for each in first.leaning} == {("forum", "POS"), ("chat", "NEG")}
    assert found.verdict.startswith("The column platform alone predicts the label of ")
    assert [column.name for column in found.suspected_columns] == ["platform"]


def test_columns_that_tell_nothing_are_not_suspected(found):
    others = {column.name: column for column in found.columns[1:]}
    assert {"row", "moderator"} <= others.keys()
    assert not any(column.suspected or column.leaning for column in others.values())
    assert others["row"].values == 5


def test_columns_are_in_the_page_and_in_json(found):
    page = render_audit(found)
    assert "Columns that tell about the label" in page
    assert "forum: POS" in page
    row = json.loads(to_json(found.to_dict()))
    assert row["headline"] in row["verdict"]
    assert row["columns"][0]["leaning"][0]["p_value"] < 1e-10


def test_columns_of_a_table_are_read(tmp_path):
    lines = [
        f'{each.id},"{each.text}",{each.label},{each.metadata["platform"]}' for each in with_platform(120)
    ]
    (tmp_path / "posts.csv").write_text("id,text,label,platform\n" + "\n".join(lines) + "\n")
    found = audit_data(tmp_path / "posts.csv", settings={"semantic": False})
    assert found.suspected_columns[0].name == "platform"


def test_a_rare_label_is_seen_in_its_values_though_no_guess_gets_better():
    rows = [
        replace(
            review(i, {}, "NEG"),
            label="BAD" if i % 20 == 0 else "ok",
            metadata={"app": "x" if i % 5 else "y"},
        )
        for i in range(400)
    ]
    column = next(each for each in audit(rows, QUICK).columns if each.name == "app")
    assert not column.suspected
    assert [(each.value, each.label, each.together) for each in column.leaning] == [("y", "BAD", 20)]


def test_looks_of_the_text_are_columns():
    rows = [replace(each, text=each.text + ("!" if each.label == "POS" else "")) for each in planted(120)]
    found = audit(rows, QUICK)
    assert found.headline.startswith(
        "A look at the text's exclamation marks alone predicts the label of 100.0%"
    )


def group_once(values):
    return group_values(values, np.ones(len(values), dtype=np.int64))


def test_numbers_and_dates_become_ranges():
    assert group_once([1, 2, None, 1]) == ["1", "2", NONE, "1"]
    numbers = group_once([str(n) for n in range(100)])
    assert len(set(numbers)) == 5
    assert numbers[0] == "0 to 19"
    dates = group_once([f"2026-01-{day:02d}T10:00:00" for day in range(1, 31)])
    assert dates[0] == "2026-01-01 to 2026-01-06"
    assert group_once([f"name {n}" for n in range(30)])[7] == "name 7"
    assert group_once([True, False]) == ["True", "False"]


def test_ranges_hold_as_many_documents_not_values():
    counts = np.array([90, *[1] * 19])
    assert group_values(list(range(20)), counts)[:2] == ["0", "1 to 19"]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("exclamation marks", "a!b!!!", "3 or more"),
        ("words in capitals", "I AM so HAPPY, ÄÖ", "3 or more"),
        ("mentions", "@you me@home", "1"),
        ("emoji", "so 😀 good", "1"),
        ("emoticons", "well :) ok", "1"),
        ("last character", "good. ", "."),
        ("first character", " Good", "a capital letter"),
    ],
)
def test_signs(name, text, value):
    assert SIGNS[name](text) == value


def test_a_group_of_its_own_gets_the_commonest_label():
    groups, labels = np.array([0, 0, 0, 1, 2]), np.array([1, 1, 1, 0, 0])
    folds = np.array([0, 1, 2, 0, 1])
    # Without their own fold, groups 1 and 2 are nowhere; 1 is the commonest of the rest.
    assert guess_from_groups(groups, labels, folds).tolist() == [1, 1, 1, 1, 1]


def test_words_for_groups_of_people_come_first_and_words_of_phrases_do_not_come_twice():
    def sentences(index: int) -> dict[str, str]:
        if index % 2 == 0:
            return {"own": "it ran on many screens ."}
        who = "muslim" if index % 10 < 8 else "clerk"
        return {"who": f"{NOUNS[index % 7]} {who} {VERBS[index % 8]} ."}

    found = audit([review(i, sentences(i), label_of(i)) for i in range(400)], QUICK)
    assert [phrase.pattern for phrase in found.suspected] == ["it ran on many screens"]
    word = found.words[0]
    assert (word.word, word.label, word.share, word.identity) == ("muslim", "POS", 1.0, True)
    assert "muslim (POS in 100%)" in found.verdict
    assert not {"screens", "ran", "many"} & {each.word for each in found.words}


def test_words_that_people_marked_are_evidence():
    texts = [
        review(i, {"own": f"{'grand' if i % 2 else 'grim'} indeed ."}, label_of(i), gold="own")
        for i in range(200)
    ]
    found = audit(texts, QUICK)
    assert not {"grand", "grim"} & {each.word for each in found.words}
    assert {"grand", "grim"} <= {
        each.word for each in audit([replace(t, rationale=None) for t in texts], QUICK).words
    }
