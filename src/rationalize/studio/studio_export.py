"""Make examples of what people have marked: for export, for training, for the audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rationalize.data.annotation import FORMATS
from rationalize.data.annotation.import_options import MERGES
from rationalize.data.annotation.merge_people import merge_labels, merge_spans
from rationalize.data.conversion import TOOL_FILES
from rationalize.data.jsonl import to_row
from rationalize.errors import ConfigError
from rationalize.files import json_line
from rationalize.studio._decisions import Annotation, PhraseVerdict
from rationalize.studio.pool import Pool
from rationalize.text.words import WordRule, find_words_in, mask_spans, split_words, word_mask, word_spans
from rationalize.types import Example

SLOT = "…"
ONE_FILE = tuple(name for name in FORMATS if name != "brat")
"""Annotation tools whose export is one file; brat's is a folder."""
Pattern = tuple[str, ...]
"""The words of a phrase, `…` where any word may stand."""


@dataclass(frozen=True, slots=True)
class Annotated:
    """A text with what people have made of it."""

    example: Example
    people: tuple[str, ...]
    notes: Mapping[str, str]


def merge_annotations(
    pool: Pool, annotations: Iterable[Annotation], annotators: str = "majority"
) -> Iterator[Annotated]:
    """Yield the texts that are done, in order, each with one rationale and one label.

    Args:
        pool: The texts.
        annotations: Everybody's decisions.
        annotators: majority (words that at least half of the people marked), union, intersection, or one person's
            name. If labels are tied, the text keeps its own.
    """
    done: dict[int, list[Annotation]] = defaultdict(list)
    for each in annotations:
        if each.state == "done" and (annotators in MERGES or each.person == annotators):
            done[each.number].append(each)
    rule = annotators if annotators in MERGES else "union"
    for number in sorted(done):
        own, example = done[number], pool[number]
        label, _ = merge_labels([each.label for each in own if each.label is not None])
        spans = merge_spans([each.spans for each in own], rule)
        # People mark words; what they share may be less than a word only in the gaps between words.
        words = pool.find_words(number)
        whole = mask_spans(words, word_mask(words, spans))
        yield Annotated(
            replace(example, rationale=whole, label=label or example.label),
            tuple(each.person for each in own),
            {each.person: each.note for each in own if each.note},
        )


def check_annotators(annotators: str, people: Iterable[str]) -> str:
    """Refuse the name of somebody who is not there."""
    known = list(people)
    if annotators not in (*MERGES, *known):
        expected = ", ".join((*MERGES, *known))
        raise ConfigError(f"annotators: saw {annotators!r}, expected one of {expected}.", field="annotators")
    return annotators


def to_export_line(found: Annotated) -> str:
    """Format a text as a line of JSON Lines, with who marked it and their notes."""
    row = to_row(found.example) | {"annotators": list(found.people)}
    return json_line(row | ({"notes": dict(found.notes)} if found.notes else {}))


def name_tool_file(tool: str) -> str:
    """Return the name of a tool's file of annotations."""
    return TOOL_FILES.get(tool, "{}.json").format("annotations")


def make_training_examples(
    pool: Pool,
    annotations: Iterable[Annotation],
    verdicts: Mapping[str, PhraseVerdict],
    *,
    own_gold: bool = False,
) -> list[Example]:
    """Return all texts of the pool with what is known now.

    Args:
        pool: The texts.
        annotations: Everybody's decisions; words by majority.
        verdicts: Judged phrases: those that are shortcuts are marked wherever they occur outside the rationale.
        own_gold: Keep the rationales that the data came with, where nobody has annotated here.
    """
    merged = {found.example.id: found.example for found in merge_annotations(pool, annotations)}
    patterns = [
        tuple(pattern.split())
        for each in verdicts.values()
        for pattern in {each.phrase, each.pattern}
        if each.verdict == "shortcut"
    ]
    examples = []
    for example in pool.examples:
        kept = example if own_gold else replace(example, rationale=None)
        examples.append(_mark_shortcuts(merged.get(example.id, kept), patterns, pool.words))
    return examples


def _mark_shortcuts(example: Example, patterns: Sequence[Pattern], rule: WordRule) -> Example:
    if not patterns:
        return replace(example, shortcuts=None)
    spans, words = word_spans(example.text, rule), split_words(example.text, rule)
    mask = [False] * len(words)
    for pattern in patterns:
        for start in range(len(words) - len(pattern) + 1):
            if all(wanted in (SLOT, word) for wanted, word in zip(pattern, words[start:])):
                mask[start : start + len(pattern)] = [True] * len(pattern)
    for span in example.rationale or ():
        for index in find_words_in(spans, span):
            mask[index] = False  # what people marked is evidence
    return replace(example, shortcuts=mask_spans(spans, mask))
