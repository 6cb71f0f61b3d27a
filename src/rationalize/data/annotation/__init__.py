"""Read annotation tools' files as examples, and write explanations as pre-annotations."""

from __future__ import annotations

from pathlib import Path

from rationalize.data.annotation import argilla, brat, doccano, hatexplain, label_studio, prodigy
from rationalize.data.annotation.annotation_file import AnnotationFile, ExportResult, Head
from rationalize.data.annotation.import_options import ExportOptions, ImportOptions
from rationalize.data.annotation.tool_format import Format
from rationalize.data.annotator_agreement import AnnotatorAgreement

__all__ = [
    "FORMATS",
    "AnnotationFile",
    "AnnotatorAgreement",
    "ExportOptions",
    "ExportResult",
    "Format",
    "ImportOptions",
    "recognize_format",
]

FORMATS: dict[str, Format] = {
    tool.FORMAT.name: tool.FORMAT for tool in (label_studio, argilla, prodigy, hatexplain, doccano, brat)
}
"""The formats by name, in the order in which they are recognized."""


def recognize_format(source: Path | Head) -> Format | None:
    """Return the format of a file, a folder, or a file's first record; None if it is no annotation tool's."""
    return next((format for format in FORMATS.values() if format.recognize(source)), None)
