from __future__ import annotations

import pytest
from annotated import explain, marked

from rationalize.data.annotation import ExportOptions, ImportOptions
from rationalize.data.annotation.brat import FORMAT
from rationalize.errors import ConfigError, DataError
from rationalize.types import Example, Span

SONY = "Sony formed a joint venture with Ericsson, a mobile phone company.\nSony announced today that ..."
NOTES = (
    "T1\tOrganization 0 4\tSony\n"
    "T2\tMERGE-ORG 14 27\tjoint venture\n"
    "T3\tOrganization 33 41;45 51\tEricsson mobile\n"
    "E1\tMERGE-ORG:T2 Org1:T1 Org2:T3\n"
    "#1\tAnnotatorNotes T1\tfirst\n"
    "T4\tOrganization 58 66;67 71\tcompany. Sony\n"
)


def folder(path, **files):
    for name, content in files.items():
        stem, ending = name.rsplit("_", 1)
        file = path / f"{stem.replace('__', '/')}.{ending}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8"))
    return path


def test_a_pair_of_files_as_the_documentation_shows_it(tmp_path):
    path = folder(tmp_path, doc_txt=SONY, doc_ann=NOTES, other_txt="Not annotated.")
    assert FORMAT.recognize(path)
    result = FORMAT.read(path)
    assert [example.id for example in result.examples] == ["doc", "other"]
    assert marked(result.examples[0]) == ["Sony", "joint venture", "Ericsson", "mobile", "company.\nSony"]
    assert result.examples[1] == Example("other", "Not annotated.")
    assert result.notes["annotations that are no spans (relations, events, notes)"] == 2


def test_folders_are_labels(tmp_path):
    path = folder(
        tmp_path, pos__a_txt="good", pos__a_ann="T1\twhy 0 4\tgood\n", neg__b_txt="bad", neg__b_ann=""
    )
    examples = FORMAT.read(path).examples
    assert examples == (
        Example("b", "bad", "neg", rationale=()),
        Example("a", "good", "pos", rationale=(Span(0, 4),)),
    )
    assert FORMAT.read(path, ImportOptions(unmarked="unknown")).examples[0].rationale is None
    folder(tmp_path, neg__a_txt="same name")
    assert [example.id for example in FORMAT.read(path).examples] == ["neg/a", "neg/b", "pos/a"]


def test_folders_are_annotators(tmp_path):
    one, two = "T1\twhy 0 7\tso good\n", "T1\twhy 3 9\tgood a\n"
    path = folder(
        tmp_path, ann__d_txt="so good a film", ann__d_ann=one, bob__d_txt="so good a film", bob__d_ann=two
    )
    result = FORMAT.read(path, ImportOptions(folders="annotators", annotators="intersection"))
    assert (marked(result.examples[0]), result.annotators) == (["good"], {"ann": 1, "bob": 1})
    assert result.agreement.token_f1 == 0.5


def test_utf16_units_in_discontinuous_spans(tmp_path):
    path = folder(tmp_path, d_txt="😀 left 😀 right", d_ann="T1\twhy 3 7;11 16\tleft right\n")
    result = FORMAT.read(path)
    assert (marked(result.examples[0]), result.converted) == (["left", "right"], 2)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("T1\twhy 0 4\tfilm", "d.ann:2: T1: offsets do not fit the text: saw 0, 4 beside 'film'"),
        ("T1\twhy 0 99\tgood", "d.ann:2: T1: offset outside the text: saw 0, 99"),
        ("T1 why 0 4 good", "d.ann:2: not a text-bound annotation"),
        ("T1\twhy 0 x\tgood", "d.ann:2: not a text-bound annotation"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, words):
    path = folder(tmp_path, d_txt="good film", d_ann=f"T0\twhy 5 9\tfilm\r\n{line}\n")
    with pytest.raises(DataError) as caught:
        FORMAT.read(path)
    assert words in str(caught.value)
    assert FORMAT.read(path, ImportOptions(strict=False)).rejected == 1


def test_annotations_without_a_text_and_texts_that_are_not_utf8(tmp_path):
    path = folder(tmp_path, a_txt="fine", a_ann="", lone_ann="")
    (path / "latin.txt").write_bytes(b"caf\xe9")
    result = FORMAT.read(path, ImportOptions(strict=False))
    assert [example.id for example in result.examples] == ["a"]
    assert sorted(problem.kind for problem in result.problems) == ["no text for this annotation", "not UTF-8"]


def test_a_span_over_lines_is_written_in_pieces(tmp_path):
    text = "one\r\ntwo\n"
    example = Example("x/y", text, "pos", rationale=(Span(0, 9), Span(3, 5)))
    assert FORMAT.write(tmp_path / "out", [example]).changes == {
        "line breaks at the edge of a span left out": 1,
        "spans of nothing but line breaks left out": 1,
    }
    assert (tmp_path / "out" / "pos" / "x%2Fy.ann").read_text() == "T1\trationale 0 3;5 8\tone two\n"
    assert (tmp_path / "out" / "pos" / "x%2Fy.txt").read_bytes() == text.encode()
    assert FORMAT.read(tmp_path / "out").examples == (Example("x/y", text, "pos", rationale=(Span(0, 8),)),)


def test_a_foreign_folder_is_not_replaced(tmp_path):
    mine = tmp_path / "mine"
    folder(mine, note_txt="keep")
    example = Example("1", "good", "pos")
    with pytest.raises(ConfigError, match="was not written by rationalize"):
        FORMAT.write(mine, [example])
    with pytest.raises(ConfigError, match="'two words', expected a name without spaces"):
        FORMAT.write(tmp_path / "new", [example], ExportOptions(rationale_name="two words"))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    for _ in range(2):
        FORMAT.write_predictions(tmp_path / "new", [explain(example, "neg", [(0, 4)])])
    assert FORMAT.read(tmp_path / "new").examples == (Example("1", "good", "neg", rationale=(Span(0, 4),)),)


@pytest.mark.parametrize(
    ("id", "label"), [("..", ".."), (".x", " "), ("x", "x.txt"), ("a/../b", "/"), ("x%2Fy", "%")]
)
def test_ids_and_labels_that_are_no_file_names(tmp_path, id, label):
    examples = (Example("x.txt", "bad"), Example(id, "good", label, rationale=(Span(0, 4),)))
    FORMAT.write(tmp_path / "out", examples)
    assert set(FORMAT.read(tmp_path / "out").examples) == set(examples)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_id_too_long_for_a_file_is_numbered_and_counted(tmp_path):
    result = FORMAT.write(tmp_path / "out", [Example("é" * 100, "good")])
    assert result.changes == {"ids too long for a file name, numbered instead": 1}
    assert FORMAT.read(tmp_path / "out").examples[0].id == "text 1"
    with pytest.raises(DataError, match="label is too long"):
        FORMAT.write(tmp_path / "new", [Example("1", "good", "é" * 100)])
