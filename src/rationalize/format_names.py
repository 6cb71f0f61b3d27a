"""Names of data formats: those of annotation tools, those that can be read, those that can be written."""

from __future__ import annotations

from typing import Literal

ToolName = Literal["label_studio", "argilla", "prodigy", "hatexplain", "doccano", "brat"]
"""Annotation tools."""
ReadAs = Literal["rows", "eraser", ToolName]
"""Formats that can be asked for: plain rows (JSON Lines, tables), ERASER's layout, or an annotation tool's."""
WriteAs = Literal["eraser", "jsonl", "csv", "parquet", ToolName]
"""Formats that can be written."""
