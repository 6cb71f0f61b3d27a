"""The files of one annotation tool: how they are recognized, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rationalize.data.annotation._assemble import TextReader, assemble
from rationalize.data.annotation._exporting import ExportEntry, Exporter
from rationalize.data.annotation.annotation_file import AnnotationFile, ExportResult, Head
from rationalize.data.annotation.import_options import EXPORT, IMPORT, Counting, ExportOptions, ImportOptions
from rationalize.data.findings import Findings
from rationalize.types import Example, Explanation


@dataclass(frozen=True, slots=True)
class Format:
    """A tool's format, made of what is its own.

    Attributes:
        name: The name that it is asked for by.
        title: The name to show.
        recognize: Recognizes a path, or the first record of a file.
        read_texts: Reads the texts with everybody's marks.
        save: Writes texts with marks, all or nothing.
        reads: What the offsets in its files usually count, where a file leaves that undecided.
        writes: What the offsets count that it is given, unless the options have it.
    """

    name: str
    title: str
    recognize: Callable[[Path | Head], bool]
    read_texts: TextReader
    save: Callable[[Path, Exporter, list[ExportEntry]], ExportResult]
    reads: Counting = "code_points"
    writes: Counting = "code_points"

    def read(
        self, path: Path, options: ImportOptions = IMPORT, findings: Findings | None = None
    ) -> AnnotationFile:
        """Read what people marked; report problems in `findings` where given, else go by the option `strict`."""
        return assemble(self.name, path, self.read_texts, options, findings, habit=self.reads)

    def write(self, path: Path, examples: Iterable[Example], options: ExportOptions = EXPORT) -> ExportResult:
        """Write examples as people's annotations."""
        exporter = Exporter(options, self.writes)
        return self.save(path, exporter, exporter.list_examples(examples))

    def write_predictions(
        self, path: Path, explanations: Iterable[Explanation], options: ExportOptions = EXPORT
    ) -> ExportResult:
        """Write a model's explanations as pre-annotations, for people to correct."""
        exporter = Exporter(options, self.writes)
        return self.save(path, exporter, exporter.list_predictions(explanations))
