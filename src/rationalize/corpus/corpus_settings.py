"""How a corpus is explained, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rationalize.config import Precision
from rationalize.corpus.part_formats import FORMATS, PartFormat
from rationalize.errors import ConfigError
from rationalize.format_names import ToolName
from rationalize.inference.confidence import MinConfidence
from rationalize.inference.engine import CHUNK_ROWS
from rationalize.work.resources import Resources


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """How a corpus is explained.

    Attributes:
        format: Format of the parts of a folder; a file's is decided by its ending. None: JSON Lines.
        to: An annotation tool for which the output is written, as pre-annotations; None: no tool.
        workers: Processes that explain; they share one copy of the weights. On a cluster: actors with a copy each.
        on: A Ray cluster: `ray`, or `ray://HOST:PORT`; None: this machine.
        device: What a worker of a cluster computes on: cpu (it asks for one), or cuda (it asks for a GPU as well).
        resume: Go on where an earlier attempt stopped.
        truncate: Read only what fits the encoder.
        batch_tokens: Word pieces that are read at once; None: as for a single text.
        chunk_rows: Most rows in a part.
        guard_formulas: In CSV, put an apostrophe before cells that a spreadsheet would run.
        min_confidence: The confidence that a label needs, or each of some labels; below it, the label is `abstain`.
        precision: Of matrix products inside encoders.
    """

    format: PartFormat | None = None
    workers: int = 1
    resume: bool = False
    truncate: bool = False
    batch_tokens: int | None = None
    chunk_rows: int = CHUNK_ROWS
    guard_formulas: bool = True
    min_confidence: MinConfidence | None = None
    on: str | None = None
    device: str = "cpu"
    to: ToolName | None = None
    precision: Precision = "fp32"

    @property
    def wanted(self) -> Resources:
        """What a worker asks of a cluster."""
        return Resources(cpus=1, gpus=int(self.device == "cuda"))

    def __post_init__(self) -> None:
        for name in ("workers", "chunk_rows"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}: saw {getattr(self, name)}, expected 1 or more.", field=name)
        if self.on is not None and self.device not in ("cpu", "cuda"):
            raise ConfigError(
                f"device: {self.device!r} on a cluster, which chooses the GPU itself. Expected cpu or cuda.",
                field="device",
            )
        if self.format not in (None, *FORMATS):
            raise ConfigError(
                f"format: saw {self.format!r}, expected one of {', '.join(FORMATS)}.", field="format"
            )
        if self.format is not None and self.to is not None:
            raise ConfigError(
                f"format: saw {self.format!r}, but {self.to} has a format of its own. Leave one of them out.",
                field=("format", "to"),
            )


@dataclass(frozen=True, slots=True)
class CorpusOutcome:
    """What was written.

    Attributes:
        out: Where.
        rows: Rows in all.
        parts: Parts in all.
        found: How many of these parts an earlier attempt had made.
        changes: How often something was changed to fit an annotation tool.
    """

    out: str
    rows: int
    parts: int
    found: int
    changes: Mapping[str, int] = field(default_factory=dict)
