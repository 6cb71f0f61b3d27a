"""The audit of a whole data set, as people ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rationalize.audit.audit import audit, queries_as_texts
from rationalize.audit.audit_result import Audit
from rationalize.audit.rules import AuditConfig
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
    """Which fixed phrases in labeled text give the label away; few or no gold rationales are needed.

    Args:
        data: Whatever `rationalize.load` takes.
        split: Which split; None: train, or the only one there is.
        queries: Audit the queries instead of the texts.
        model: A model or run folder: what does it select, how easily is it misled?
        device: Where that model is to run.
        settings: Of the search, by name (`min_words`, `max_words`, `min_documents`, `semantic` …).
        reading: How the data are read, if not as usual.
    """
    config = validate(AuditConfig, dict(settings or {}), "audit")
    read = read_data(data, reading or ReadOptions(), split)
    examples = read.only(split or "train")
    part = split or next(name for name, each in read.splits.items() if each is examples)
    name = f"{read.name}, {part}{', queries' if queries else ''}"
    examples = queries_as_texts(examples, name) if queries else examples
    engine = load_model(Path(model), device).engine() if model is not None else None
    return audit(examples, config, engine=engine, name=name, words=read.words)
