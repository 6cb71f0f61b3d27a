"""Files of annotation tools are data like any other: loaded, checked, converted, streamed."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from helpers import tiny_corpus
from rationalize.cli.main import app, find_flags
from rationalize.data.annotation import FORMATS
from rationalize.data.conversion import convert
from rationalize.data.example_stream import stream_examples
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import load
from rationalize.data.validate import check
from rationalize.errors import ConfigError, DataError
from rationalize.types import Example, Span

TEXT = "🎬 a gripping story"
TOOLS = ("label_studio", "argilla", "prodigy", "doccano", "brat")


@pytest.fixture
def examples():
    return [Example("e", TEXT, "POS", rationale=(Span(4, 12),)), *(tiny_corpus(6))]


def strip(examples):
    return [(each.text.strip(), each.label, each.rationale) for each in examples]


@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_written_for_a_tool_is_read_again(tool, examples, tmp_path):
    plain = tmp_path / "plain.jsonl"
    from rationalize.data.jsonl import write_jsonl

    write_jsonl(plain, examples)
    convert({"train": plain, "dev": plain}, tmp_path / tool, tool)
    data = load(tmp_path / tool)
    assert set(data) == {"train", "dev"}
    assert sorted(strip(data["train"])) == sorted(strip(examples))
    assert check(tmp_path / tool).format == tool
    assert len(list(stream_examples(tmp_path / tool, ReadOptions()))) == 2 * len(examples)


def test_a_single_export_is_a_data_set(examples, tmp_path):
    FORMATS["label_studio"].write(tmp_path / "project-7.json", examples)
    data = load(tmp_path / "project-7.json", "train")
    assert {each.label for each in data["train"]} == {"NEG", "POS"}
    (found,) = [each for each in load(tmp_path / "project-7.json")["project-7"] if each.id == "e"]
    assert found.rationale == (Span(4, 12),)


def test_offsets_of_browsers_are_converted_and_counted(tmp_path):
    row = {"id": 1, "text": TEXT, "label": [[5, 13, "rationale"]], "cats": ["POS"]}
    (tmp_path / "all.jsonl").write_text(json.dumps(row) + "\n")
    data = load(tmp_path / "all.jsonl")
    assert data["all"][0].rationale == (Span(4, 12),)
    assert [each for each in data.notes if "UTF-16" in each] == [
        "spans counted in UTF-16 units, now in code points"
    ]
    assert data.notes["spans counted in UTF-16 units, now in code points"] == 1


def test_a_wrong_span_is_refused_with_its_line(tmp_path):
    row = {"id": 1, "text": "short", "label": [[2, 99, "rationale"]]}
    (tmp_path / "all.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=r"all\.jsonl"):
        load(tmp_path / "all.jsonl")
    report = check(tmp_path / "all.jsonl")
    assert (report.errors > 0, report.format) == (True, "doccano")


@pytest.mark.parametrize(
    "row",
    [
        {"text": "a b", "label": "POS"},
        {"text": "a b", "label": "POS", "rationale": [[0, 1]]},
        {"tokens": ["a", "b"], "label": "POS", "rationale": [0, 1]},
    ],
)
def test_rows_of_our_own_stay_what_they_are(row, tmp_path):
    (tmp_path / "all.jsonl").write_text(json.dumps(row) + "\n")
    assert check(tmp_path / "all.jsonl").format == "jsonl"


def test_a_model_pre_annotates(tmp_path):
    from helpers import tiny_model
    from rationalize.data.jsonl import write_jsonl
    from rationalize.runs.model_folder import save_model

    save_model(tmp_path / "model", tiny_model("un_rat"), "# card\n")
    write_jsonl(tmp_path / "in.jsonl", tiny_corpus(3))
    words = ["explain", str(tmp_path / "model"), "--file", str(tmp_path / "in.jsonl"), "--to", "label_studio"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "tasks.json")], catch_exceptions=False)
    assert "3 pre-annotated texts for Label Studio" in done.output
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert all(task["predictions"][0]["model_version"] == "un_rat" for task in tasks)
    refused = CliRunner().invoke(app, words)
    assert "--to needs --file and --out" in str(refused.exception)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_split_of_any_name_is_read_again(tool, examples, tmp_path):
    convert({"reviews": examples}, tmp_path / tool, tool)
    data = load(tmp_path / tool)
    assert set(data) == {"reviews"}
    assert {each.label for each in data["reviews"]} == {"NEG", "POS"}


def test_several_choices_ask_for_the_option(tmp_path):
    results = [
        {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": ["yes"]}}
        for name in ("tone", "topic")
    ]
    task = {"id": 1, "data": {"text": TEXT}, "annotations": [{"completed_by": 1, "result": results}]}
    (tmp_path / "tasks.json").write_text(json.dumps([task]))
    with pytest.raises(ConfigError, match=r"several choices \(tone, topic\)") as caught:
        load(tmp_path / "tasks.json")
    assert find_flags(caught.value, ["data", "stats", "tasks.json"]) == ["--label-field"]
    assert load(tmp_path / "tasks.json", label_field="tone")["tasks"][0].label == "yes"
