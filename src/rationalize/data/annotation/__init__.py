"""Read annotation tools' files as examples, and write explanations as pre-annotations."""

from __future__ import annotations

from pathlib import Path

from rationalize.data.annotation import argilla, brat, doccano, hatexplain, label_studio, prodigy
from rationalize.data.annotation.annotation_file import AnnotationFile, ExportResult, Format, Head
from rationalize.data.annotation.import_options import ExportOptions, ImportOptions
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
    name: Format(name, title, tool.recognize, tool.read, tool.write, tool.write_predictions)
    for name, title, tool in (
        ("label_studio", "Label Studio", label_studio),
        ("argilla", "Argilla", argilla),
        ("prodigy", "Prodigy", prodigy),
        ("hatexplain", "tokens with masks", hatexplain),
        ("doccano", "doccano", doccano),
        ("brat", "brat standoff", brat),
    )
}
"""The formats by name."""


def recognize_format(source: Path | Head) -> Format | None:
    """Return the format of a file, a folder, or a file's first record; None if it is no annotation tool's."""
    return next((format for format in FORMATS.values() if format.recognize(source)), None)
