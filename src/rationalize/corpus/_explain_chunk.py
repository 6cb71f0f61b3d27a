"""What is done with a chunk, in this process or wherever it is sent: it is explained, and its part written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from rationalize.corpus._chunk import Chunk
from rationalize.corpus._unfinished import WorkPlan, locate_part
from rationalize.corpus.part_formats import write_part
from rationalize.flat_memory import return_memory
from rationalize.runs.model_folder import Model


@dataclass(frozen=True)
class ExplainChunk:
    """Explains a chunk and writes its part. It is what a process of the pool gets, the model included."""

    model: Model
    folder: Path
    plan: WorkPlan
    threads: int | None

    def __call__(self, chunk: Chunk) -> None:
        """Write the part of a chunk."""
        if self.threads is not None:
            torch.set_num_threads(self.threads)
        wanted = self.plan.min_confidence or None
        engine = self.model.engine(
            batch_tokens=self.plan.batch_tokens, min_confidence=wanted, precision=self.plan.precision
        )
        found = engine.explain(chunk.examples, truncate=self.plan.truncate, chunk=self.plan.chunk_rows)
        write_part(
            self.locate(chunk.number),
            self.plan.format,
            (each.explanation for each in found),
            self.model.config.labels,
            guard_formulas=self.plan.guard_formulas,
        )
        return_memory()

    def locate(self, number: int) -> Path:
        """Return the file of a part."""
        return locate_part(self.folder, self.plan.format, number)

    def move(self, device: str, threads: int) -> ExplainChunk:
        """Return it with its model on a device, and so many threads."""
        return replace(self, model=self.model.to(device), threads=threads)
