"""The notebooks of the documentation run from the first to the last cell, and show pictures."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient

import rocelab

# It has no types.
read_notebook: Any = import_module("nbformat").read

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))

_TIMEOUT_S = 60
"""Until when a cell must have ended."""


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def executed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401
    """A notebook after all its cells were run, in an empty directory."""
    notebook = read_notebook(request.param, as_version=4)
    place = tmp_path_factory.mktemp(request.param.stem)
    NotebookClient(
        notebook,
        timeout=_TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(place)}},
    ).execute(cwd=str(place), env=_environment())
    return notebook


def _environment() -> dict[str, str]:
    """The kernel imports what this process does, and finds the command beside its Python."""
    package = str(Path(rocelab.__file__).parents[1])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PYTHONPATH": package, "PATH": path}


def test_there_are_notebooks() -> None:
    names = {path.stem for path in NOTEBOOKS}
    assert names == {"first-run", "thresholds", "comparing-schemes", "paper-figure"}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_notebook_runs_without_warnings_and_shows_pictures(executed: Any) -> None:  # noqa: ANN401
    outputs = [out for cell in executed.cells for out in cell.get("outputs", ())]
    assert not [out for out in outputs if out.get("name") == "stderr"]
    kinds = {kind for out in outputs for kind in out.get("data", ())}
    assert {"image/png", "text/html"} <= kinds


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    cells = read_notebook(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert cells[0].cell_type == "markdown"
