"""The results of reading and writing an annotation tool's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rationalize.data.annotator_agreement import AgreementMeter, AnnotatorAgreement
from rationalize.data.findings import Problem
from rationalize.types import Example

Head = Mapping[str, object]
"""The first record of a file."""


@dataclass(frozen=True, slots=True)
class AnnotationFile:
    """What people marked, as examples.

    Attributes:
        format: Name of the format.
        examples: One for each text that could be read, in the order of the file.
        read: How many texts the file has.
        annotators: How many texts each person annotated.
        span_names: How many spans have each name, all people taken together.
        converted: How many spans were counted in UTF-16 units and are now in code points.
        people: Counts of what two people or more said about the same text.
        problems: At most 50 of the problems that were met, errors first.
        notes: How often something else worth knowing was met.
    """

    format: str
    examples: tuple[Example, ...]
    read: int
    annotators: dict[str, int] = field(default_factory=dict)
    span_names: dict[str, int] = field(default_factory=dict)
    converted: int = 0
    people: AgreementMeter = field(default_factory=AgreementMeter, repr=False)
    problems: tuple[Problem, ...] = ()
    notes: dict[str, int] = field(default_factory=dict)

    @property
    def agreement(self) -> AnnotatorAgreement | None:
        """How far the people agree; None if no text was annotated by two."""
        return self.people.measure()

    @property
    def rejected(self) -> int:
        """How many texts could not be read."""
        return self.read - len(self.examples)


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written: how many texts, and how often something could not be kept as it was."""

    rows: int
    changes: dict[str, int]
