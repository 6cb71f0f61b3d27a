from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from data_strategies import plain_example
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from rationalize.cli.main import app
from rationalize.config import validate
from rationalize.data.dataset import DataSet
from rationalize.data.planted import PlantConfig, ShortcutPlan, plant, plant_data
from rationalize.data.planted._insertion import insert_shortcut
from rationalize.data.source import load
from rationalize.errors import ConfigError, DataError
from rationalize.seeding import python_random
from rationalize.text.words import split_words, word_mask, word_spans
from rationalize.types import Document, Example, Span

run = CliRunner().invoke
BOTH = PlantConfig(
    shortcuts=(ShortcutPlan(text="as i said", label="POS"), ShortcutPlan(text="by the way", label="NEG")),
    seed=3,
)


def post(index: int) -> Example:
    text = f"👩‍👩‍👧 well, number {index} was really rather good 😀 so far"
    start = text.index("really")
    gold = (Span(0, 5), Span(start, start + len("really rather good"), 1))
    return Example(f"p{index}", text, "POS" if index % 2 else "NEG", rationale=gold, metadata={"app": "web"})


def posts(**sizes: int) -> DataSet:
    return DataSet("posts", {split: tuple(map(post, range(size))) for split, size in sizes.items()})


def has(example: Example) -> list[str]:
    return [example.text[span.start : span.end] for span in example.shortcuts or ()]


@given(plain_example(0), st.sampled_from(["phrase", "word", "punctuation", "token"]), st.integers(0, 50))
def test_everything_that_points_into_the_text_moves_along(example, kind, seed):
    text = {"phrase": "as i said", "word": "verily", "punctuation": "!!", "token": "<web>"}[kind]
    new = insert_shortcut(
        example, ShortcutPlan(text=text, label="POS", kind=kind), "unicode", python_random(seed)
    )
    (own,) = [span for span in new.shortcuts if new.text[span.start : span.end] == text][:1]
    for before, after in ((example.rationale, new.rationale), (example.shortcuts or (), new.shortcuts)):
        kept = Counter(example.text[span.start : span.end] for span in before or ())
        assert kept <= Counter(new.text[span.start : span.end] for span in after or ())
    assert (new.rationale is None) == (example.rationale is None)
    assert all(span.end <= own.start or span.start >= own.end for span in new.rationale or ())
    added = len(new.text) - len(example.text)
    assert any(new.text[:at] + new.text[at + added :] == example.text for at in range(len(example.text) + 1))
    words = word_spans(new.text)
    assert not any(word.start < own.start < word.end or word.start < own.end < word.end for word in words)
    rest = [word for word, mark in zip(split_words(new.text), word_mask(words, [own])) if not mark]
    assert rest == split_words(example.text)
    if example.documents:
        assert new.documents[0].start == 0
        assert max(each.end for each in new.documents) == len(new.text)
        assert all(one.end == other.start for one, other in pairwise(new.documents))


def test_the_shortcut_follows_the_label_and_turns_around_in_ood():
    data = plant(posts(train=100, dev=20, test=40), BOTH)
    assert list(data) == ["train", "dev", "test", "ood"]
    side = {"as i said": "POS", "by the way": "NEG"}
    for split, agreeing in (("train", 90), ("dev", 18), ("test", 36), ("ood", 4)):
        assert all(len(example.shortcuts) == 1 for example in data[split])
        assert sum(side[has(example)[0]] == example.label for example in data[split]) == agreeing
    for one, other in zip(data["test"], data["ood"], strict=True):
        assert has(one) != has(other)
        assert (one.id, one.metadata) == (other.id, {"app": "web"})
        assert [one.text[span.start : span.end] for span in one.rationale] == ["👩‍👩‍👧", "really rather good"]


def test_the_seed_decides():
    again = [plant(posts(test=20), BOTH.model_copy(update={"seed": seed}))["test"] for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def test_a_label_may_go_with_nothing():
    only = PlantConfig(shortcuts=(ShortcutPlan(text="#ad", label="POS", kind="token"),), correlation=1)
    data = plant(posts(test=10), only)
    assert [has(example) for example in data["test"]] == [[], ["#ad"]] * 5
    assert [has(example) for example in data["ood"]] == [["#ad"], []] * 5
    assert all(example.text.startswith("#ad ") == bool(has(example)) for example in data["ood"])


def test_a_text_that_is_gold_from_end_to_end_is_left_whole():
    whole = Example("1", "all gold here", "POS", rationale=(Span(0, 13),), documents=(Document("d", 0, 13),))
    for seed in range(10):
        new = insert_shortcut(
            whole, ShortcutPlan(text="as i said", label="POS"), "whitespace", python_random(seed)
        )
        assert new.text in {"as i said all gold here", "all gold here as i said"}
        assert new.documents == (Document("d", 0, len(new.text)),)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"text": " as", "label": "P"}, "white space around"),
        ({"text": "as i", "label": "P", "kind": "word"}, "expected a word without white space"),
        ({"text": "!a", "label": "P", "kind": "punctuation"}, "without letters"),
    ],
)
def test_what_cannot_be_planted_is_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        validate(PlantConfig, {"shortcuts": [values]}, "plant")


def test_data_without_the_label_or_a_test_are_refused(tmp_path):
    with pytest.raises(DataError, match="saw no label 'NEG'"):
        plant(DataSet("d", {"test": (Example("1", "a", "X"),)}), BOTH)
    with pytest.raises(DataError, match="expected test"):
        plant(posts(train=4), BOTH)


def test_an_ood_of_the_data_gives_way(tmp_path):
    done = plant_data(posts(test=20, ood=7), tmp_path / "out", BOTH)
    assert (done.replaced, done.splits["ood"].documents) == (7, 20)


def test_a_folder_is_written_that_reads_back(tmp_path):
    data = posts(train=20, test=20)
    done = plant_data(data, tmp_path / "out", BOTH)
    planted = plant(data, BOTH)
    assert load(tmp_path / "out").splits == planted.splits
    assert (done.splits["test"].correlation, done.splits["ood"].correlation) == (0.9, 0.1)
    assert done.already == 0
    assert "as i said" in (tmp_path / "out" / "README.md").read_text()


def test_the_command(tmp_path):
    rows = "\n".join(f"number {index} is so and so,{'PN'[index % 2]}" for index in range(40))
    (tmp_path / "mine.csv").write_text(f"text,label\n{rows}\nas i said nothing,P\n")
    out = str(tmp_path / "out")
    given_ = ["--phrases", "as i said=P", "--punctuation", "=)=N", "--correlation", "1"]
    told = run(app, ["data", "plant", str(tmp_path / "mine.csv"), "--out", out, *given_])
    assert told.exit_code == 0, told.output
    assert "agrees with the label in 100.0%" in told.output
    assert "1 documents held one" in told.output
    assert {split: len(each) for split, each in load(out).items()} == {
        "train": 29,
        "dev": 8,
        "test": 4,
        "ood": 4,
    }
    assert all(("=)" in has(each)) == (each.label == "N") for each in load(out)["train"])
    refused = run(app, ["data", "plant", str(tmp_path / "mine.csv"), "--out", out])
    assert isinstance(refused.exception, ConfigError)
    assert "nothing to plant" in str(refused.exception)
