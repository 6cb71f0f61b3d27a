"""The audit of a whole data set, as people ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rationalize.audit.audit import audit, queries_as_texts
from rationalize.audit.audit_result import Audit
from rationalize.audit.rules import AuditConfig
from rationalize.config import validate
from rationalize.data.source import load
from rationalize.runs.model_folder import load_model


def audit_data(
    data: Any,
    split: str = "train",
    *,
    queries: bool = False,
    model: str | Path | None = None,
    device: str = "auto",
    settings: Mapping[str, Any] | None = None,
) -> Audit:
    """Which fixed phrases in labeled text give the label away; few or no gold rationales are needed.

    Args:
        data: Whatever `rationalize.load` takes.
        split: Which split.
        queries: Audit the queries instead of the texts.
        model: A model or run folder: what does it select, how easily is it misled?
        device: Where that model is to run.
        settings: Of the search, by name (`min_words`, `max_words`, `min_documents`, `semantic` …).
    """
    config = validate(AuditConfig, dict(settings or {}), "audit")
    read = load(data, split)
    name = f"{read.name}, {split}{', queries' if queries else ''}"
    examples = queries_as_texts(read[split], name) if queries else read[split]
    engine = load_model(Path(model), device).engine() if model is not None else None
    return audit(examples, config, engine=engine, name=name, words=read.words)
