"""The example notebook runs from its first cell to its last, on real servers, and shows what it promises."""

from pathlib import Path
from typing import Any

import nbclient
import nbformat

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def test_the_example_notebook_runs(tmp_path: Path) -> None:
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    context = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, resources=context).execute()
    shown = [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    run, figures, requests, compared, shift, density = shown
    assert "Does a slow request hold up the fast ones?" in run["text/html"]
    assert "reference-processor-sharing" in run["text/html"]
    assert "response_ms" in requests["text/html"]
    assert "value" in figures["text/html"]
    assert "reference-processor-sharing" in compared["text/html"]
    for chart in (shift, density):
        assert "reference" in chart["image/svg+xml"]
