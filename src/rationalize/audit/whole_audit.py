"""Audit a whole data set: the room's public function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rationalize.audit._audit import audit, turn_queries_into_texts
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_result import Audit
from rationalize.config import validate
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.runs.model_folder import load_model


def audit_data(
    data: Any,
    split: str | None = None,
    *,
    queries: bool = False,
    model: str | Path | None = None,
    device: str = "auto",
    settings: Mapping[str, Any] | None = None,
    reading: ReadOptions | None = None,
) -> Audit:
    """Find what reveals the label without being evidence: columns of the data, fixed phrases, single words.

    Few or no gold rationales are needed.

    Args:
        data: Anything `rationalize.load` takes.
        split: The split to audit; None: train, or the only one.
        queries: Audit the queries instead of the texts.
        model: A model or run folder, to check what it selects and how easily it is misled.
        device: Where to run that model.
        settings: Settings of the search, by name (`min_words`, `max_words`, `min_documents`, `words`, `semantic` …).
        reading: Options for reading the data.
    """
    config = validate(AuditConfig, dict(settings or {}), "audit")
    read = read_data(data, reading or ReadOptions(), split)
    examples = read.only(split or "train")
    part = split or next(name for name, each in read.splits.items() if each is examples)
    name = f"{read.name}, {part}{', queries' if queries else ''}"
    examples = turn_queries_into_texts(examples, name) if queries else examples
    engine = load_model(Path(model), device).engine() if model is not None else None
    return audit(examples, config, engine=engine, name=name, words=read.words)
