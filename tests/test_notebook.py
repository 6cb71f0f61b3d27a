"""The notebook of the docs runs from its first cell to its last, and shows what it promises."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "getting-started.ipynb"


def test_the_notebook_is_kept_without_outputs():
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> dict[str, str]:
    """What each code cell shows, by the cell's id."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return {cell.id: str(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"}


@pytest.mark.slow
def test_an_explanation_is_highlighted_and_names_the_evidence(shown):
    assert "text/html" in shown["explain"]
    assert "<mark" in shown["explain"]
    assert "warm and clever writing" in shown["parts"]


@pytest.mark.slow
def test_the_audit_finds_the_planted_shortcuts(shown):
    assert "shown at the festival" in shown["audit"]
    assert "released in the winter" in shown["audit"]
