"""What is written for a tool and read again is the same, whatever stands in the texts."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from annotated import as_tools_keep_it, example_lists, explain
from hypothesis import example, given

from rationalize.data.annotation import FORMATS, ExportOptions, ImportOptions, recognize_format
from rationalize.data.annotation.import_options import EXPORT, IMPORT
from rationalize.text.words import mask_spans, word_mask, word_spans
from rationalize.types import Example, Span
from searches import search

EXACT = ("label_studio", "argilla", "prodigy", "doccano")
TURNS = search(60)


def there_and_back(name, examples, *, writing=EXPORT, reading=IMPORT):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / {"brat": "data", "prodigy": "data.jsonl", "doccano": "data.jsonl"}.get(
            name, "data.json"
        )
        FORMATS[name].write(path, examples, writing)
        return FORMATS[name].read(path, reading)


@pytest.mark.parametrize("name", EXACT)
@TURNS
@given(example_lists())
def test_to_the_letter(name, examples):
    assert list(there_and_back(name, examples).examples) == as_tools_keep_it(examples)


@TURNS
@given(example_lists())
def test_doccano_with_spans_and_class(examples):
    result = there_and_back("doccano", examples, writing=ExportOptions(doccano_project="spans_and_class"))
    assert list(result.examples) == as_tools_keep_it(examples)


@pytest.mark.parametrize("name", ["label_studio", "prodigy", "brat", "doccano"])
@TURNS
@given(example_lists())
def test_offsets_in_utf16_units(name, examples):
    change = on_lines if name == "brat" else lambda example: example
    options = ExportOptions(offsets="utf16"), ImportOptions(offsets="utf16")
    result = there_and_back(name, examples, writing=options[0], reading=options[1])
    assert list(result.examples) == by_id(as_tools_keep_it(examples, change), name)


@TURNS
@given(example_lists())
@example([Example("0", "aa😀שלום  \x1f", rationale=(Span(8, 10),))])
@example([Example("0", "aa😀שלום  \t", rationale=(Span(8, 10),))])
def test_brat_but_for_queries_and_line_breaks_at_the_edges(examples):
    result = there_and_back("brat", examples)
    assert list(result.examples) == by_id(as_tools_keep_it(examples, on_lines), "brat")


@TURNS
@given(example_lists())
def test_tokens_on_whole_words(examples):
    result = there_and_back("hatexplain", examples)
    assert list(result.examples) == as_tools_keep_it(examples, on_words)


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_recognized(name, tmp_path):
    examples = [Example("1", "good film", "pos", rationale=(Span(0, 4),))]
    for write, given_ in (
        (FORMATS[name].write, examples),
        (FORMATS[name].write_predictions, [explain(examples[0])]),
    ):
        path = tmp_path / write.__name__ if name == "brat" else tmp_path / f"{write.__name__}.json"
        assert write(path, given_).rows == 1
        assert recognize_format(path) is FORMATS[name]


def by_id(examples, name):
    """brat's folder lists texts by label and name."""
    if name != "brat":
        return examples
    from rationalize.data.annotation._file_names import encode_name

    def place(example):
        folder = [encode_name(example.label).replace(".", "%2E")] if example.label else []
        return Path(*folder, encode_name(example.id) + ".txt")

    return sorted(examples, key=place)


def on_lines(example):
    def trim(spans):
        kept = []
        for span in spans:
            piece = example.text[span.start : span.end]
            start = span.start + len(piece) - len(piece.lstrip("\r\n"))
            if piece.strip("\r\n"):
                kept.append(Span(start, start + len(piece.strip("\r\n"))))
        return tuple(dict.fromkeys(kept))

    changed = replace(example, query=None)
    if example.rationale is None:
        return changed
    return replace(changed, rationale=trim(example.rationale), shortcuts=trim(example.shortcuts))


def on_words(example):
    if example.rationale is None:
        return example
    words = word_spans(example.text)
    return replace(example, rationale=mask_spans(words, word_mask(words, example.rationale)), shortcuts=None)
