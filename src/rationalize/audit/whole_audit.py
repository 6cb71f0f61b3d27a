"""Audit a whole data set: the room's public function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rationalize.audit._audit import audit, turn_queries_into_texts
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_result import Audit
from rationalize.config import validate
from rationalize.data.data_stream import open_split
from rationalize.data.read_options import ReadOptions
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
        data: Anything `rationalize.load` takes. Files are read one row at a time: of more documents than
            `memory_documents`, no more than a few thousand are in memory at once.
        split: The split to audit; None: train, or the only one.
        queries: Audit the queries instead of the texts.
        model: A model or run folder, to check what it selects and how easily it is misled.
        device: Where to run that model.
        settings: Settings of the search, by name (`min_words`, `max_words`, `min_documents`, `words`,
            `semantic`, `workers` …).
        reading: Options for reading the data.
    """
    config = validate(AuditConfig, dict(settings or {}), "audit")
    engine = load_model(Path(model), device).engine() if model is not None else None
    with open_split(data, split, reading or ReadOptions()) as opened:
        name = f"{opened.data}, {opened.split}{', queries' if queries else ''}"
        examples = turn_queries_into_texts(opened.examples, name) if queries else opened.examples
        return audit(examples, config, engine=engine, name=name, words=opened.words)
