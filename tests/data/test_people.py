"""Several people's marks as data: whom to follow, how far they agree, what was cancelled; and formats by name."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from sklearn.metrics import cohen_kappa_score
from typer.testing import CliRunner

import rationalize as rz
from rationalize.cli.main import app
from rationalize.data.annotator_agreement import AgreementMeter, cohen_kappa
from rationalize.errors import ConfigError, DataError
from rationalize.types import Span

TEXT = "a truly gripping story"
MASKS = {"anna": [0, 1, 1, 0], "ben": [0, 0, 1, 1], "carl": [0, 0, 1, 0]}
WORDS = ((0, 1), (2, 7), (8, 16), (17, 22))


def make_result(mask, label):
    spans = [
        {
            "type": "labels",
            "from_name": "spans",
            "to_name": "text",
            "value": {"start": start, "end": end, "text": TEXT[start:end], "labels": ["rationale"]},
        }
        for (start, end), mark in zip(WORDS, mask)
        if mark
    ]
    choice = {"type": "choices", "from_name": "class", "to_name": "text", "value": {"choices": [label]}}
    return [*spans, choice]


@pytest.fixture
def tasks(tmp_path):
    """An export of Label Studio: three people, and one who gave up."""
    annotations = [
        {"completed_by": {"email": name}, "result": make_result(mask, "NEG" if name == "carl" else "POS")}
        for name, mask in MASKS.items()
    ]
    annotations.append({"completed_by": {"email": "dora"}, "was_cancelled": True, "result": []})
    path = tmp_path / "train.json"
    path.write_text(json.dumps([{"id": 1, "data": {"text": TEXT}, "annotations": annotations}]))
    return path


@pytest.mark.parametrize(
    ("annotators", "pieces"),
    [
        ("majority", ["gripping"]),
        ("union", ["truly", "gripping", "story"]),
        ("intersection", ["gripping"]),
        ("ben", ["gripping", "story"]),
    ],
)
def test_whom_to_follow_is_one_setting_everywhere(tasks, tmp_path, annotators, pieces):
    (example,) = rz.load(tasks, annotators=annotators)["train"]
    words = " ".join(TEXT[span.start : span.end] for span in example.rationale).split()
    assert words == pieces
    out = tmp_path / "out"
    done = CliRunner().invoke(
        app, ["data", "convert", str(tasks), str(out), "--to", "jsonl", "--annotators", annotators]
    )
    assert done.exit_code == 0, done.output
    assert rz.load(out)["train"][0].rationale == example.rationale


def test_nobody_of_that_name(tasks):
    with pytest.raises(
        ConfigError, match=r"saw 'eve', expected one of 'majority'.*'anna', 'ben', 'carl'"
    ) as seen:
        rz.load(tasks, annotators="eve")
    assert seen.value.fields == ("annotators",)
    with pytest.raises(ConfigError, match="or somebody's name"):
        rz.load(tasks, annotators="")


@pytest.mark.parametrize(
    ("annotators", "spans"), [("majority", (Span(8, 16),)), ("intersection", (Span(8, 16),))]
)
def test_masks_without_names(annotators, spans):
    row = {"tokens": TEXT.split(), "label": "POS", "rationale": list(MASKS.values())}
    data = rz.load([row], annotators=annotators)
    assert data["data"][0].rationale == spans
    assert data.people["data"].agreement.marked_texts == 1
    assert data.people["data"].agreement.token_kappa is None  # nobody knows who is who
    with pytest.raises(DataError, match="do not say who made them"):
        rz.load([row], annotators="anna")


def test_stats_show_agreement_and_what_was_cancelled(tasks):
    done = CliRunner().invoke(app, ["data", "stats", str(tasks), "--json"], catch_exceptions=False)
    figures = json.loads(done.output)
    people = figures["people"]["train"]
    assert people["annotators"] == {"anna": 1, "ben": 1, "carl": 1}
    kappas = [
        cohen_kappa_score(MASKS[one], MASKS[other])
        for one, other in (("anna", "ben"), ("anna", "carl"), ("ben", "carl"))
    ]
    assert people["agreement"]["token_kappa"] == pytest.approx(sum(kappas) / 3)
    assert people["agreement"]["token_f1"] == pytest.approx(6 / 10)
    assert people["agreement"]["label_match"] == pytest.approx(1 / 3)
    assert people["agreement"]["labeled_texts"] == 1
    assert any("cancelled" in note and times == 1 for note, times in figures["notes"].items())
    table = CliRunner().invoke(app, ["data", "stats", str(tasks)], catch_exceptions=False).output
    assert "Krippendorff's alpha" in table
    assert "anna 1, ben 1, carl 1" in table
    assert "cancelled" in table


def test_meters_of_shards_add_up():
    whole, first, second = AgreementMeter(), AgreementMeter(), AgreementMeter()
    for meter in (first, second):
        for target in (meter, whole):
            target.add_masks(list(MASKS.values()), list(MASKS))
            target.add_labels(["x", "y", "y"], list(MASKS))
    first.merge(second)
    assert first.measure() == whole.measure()
    assert AgreementMeter().measure() is None


def test_kappa_is_that_of_sklearn():
    pairs = list(zip([0, 0, 1, 1, 1, 0], [0, 1, 1, 1, 0, 0]))
    assert cohen_kappa(Counter(pairs)) == pytest.approx(cohen_kappa_score(*zip(*pairs)))


def test_a_format_can_be_forced(tmp_path):
    row = {"text": "so good", "label": [[3, 7, "rationale"]], "tokens": ["so", "good"]}
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError):
        rz.load(path)  # tokens make it plain rows, and a list is no label
    (example,) = rz.load(path, read_as="doccano")["train"]
    assert example.rationale == (Span(3, 7),)
    out = tmp_path / "out"
    words = ["data", "convert", str(path), str(out), "--from", "doccano", "--to", "jsonl"]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    assert rz.load(out)["train"][0].rationale == (Span(3, 7),)


def test_a_format_that_cannot_be_is_refused(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("text,label\nso good,POS\n")
    for read_as in ("doccano", "brat"):
        with pytest.raises(DataError, match=f"to be read as {read_as}, but saw train.csv") as seen:
            rz.load(path, read_as=read_as)
        assert seen.value.fields == ("data.read_as",)
    assert len(rz.load(path, read_as="rows")["train"]) == 1
    with pytest.raises(ConfigError, match="read_as"):
        rz.load(path, read_as="excel")


def test_rows_that_look_like_a_tools_can_be_read_as_rows(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps({"text": "so good", "spans": [], "answer": "accept", "label": "POS"}) + "\n")
    assert rz.load(path).people
    assert not rz.load(path, read_as="rows").people


def test_evidences_of_the_hub_are_located_and_ambiguous_ones_reported():
    datasets = pytest.importorskip("datasets")
    rows = {
        "review": ["so good\nand so calm , so good", "a truly\ngripping story"],
        "label": [1, 0],
        "evidences": [["so good"], ["truly gripping", "story"]],
    }
    kinds = datasets.Features(
        {
            "review": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["NEG", "POS"]),
            "evidences": datasets.Sequence(datasets.Value("string")),
        }
    )
    data = rz.load(datasets.Dataset.from_dict(rows, features=kinds), text_field="review")
    twice, found = data["data"]
    assert (twice.label, found.label) == ("POS", "NEG")
    assert twice.rationale is None
    assert [found.text[span.start : span.end] for span in found.rationale] == ["truly\ngripping", "story"]
    assert data.notes["rationale twice in the text"] == 1
