"""Tables, plots, highlights, pages and cards; no arithmetic on scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.reporting.card import render_card as render_card
    from rationalize.reporting.highlight import explanation_html as explanation_html
    from rationalize.reporting.highlight import explanation_text as explanation_text
    from rationalize.reporting.progress import TrainingDisplay as TrainingDisplay
    from rationalize.reporting.progress import show_progress as show_progress
    from rationalize.reporting.progress import track as track
    from rationalize.reporting.report import Report as Report
    from rationalize.reporting.report import write_report as write_report
    from rationalize.reporting.result_table import metric_table as metric_table
    from rationalize.reporting.result_table import warnings_of as warnings_of
    from rationalize.reporting.table import Column as Column
    from rationalize.reporting.table import Table as Table
    from rationalize.reporting.table import TableRow as TableRow

_HOMES = {
    "Column": "table",
    "Report": "report",
    "Table": "table",
    "TableRow": "table",
    "TrainingDisplay": "progress",
    "explanation_html": "highlight",
    "explanation_text": "highlight",
    "metric_table": "result_table",
    "render_card": "card",
    "show_progress": "progress",
    "track": "progress",
    "warnings_of": "result_table",
    "write_report": "report",
}
__all__ = [
    "Column",
    "Report",
    "Table",
    "TableRow",
    "TrainingDisplay",
    "explanation_html",
    "explanation_text",
    "metric_table",
    "render_card",
    "show_progress",
    "track",
    "warnings_of",
    "write_report",
]
__getattr__ = open_room(__name__, _HOMES)
