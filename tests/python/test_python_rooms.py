"""``tools/check_python_rooms.py``: the rooms of the package import each other in one direction."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_python_rooms.py"
TABLE = """\
| room | what |
|---|---|
| `errors.py`, `_*.py` | helpers |
| `result.py` | the public API |
| `plot/` | pictures |
| `sweeps/` | grids |
"""


def check(directory: Path, files: dict[str, str], table: str = TABLE) -> list[str]:
    """What the tool says of a package with these files beside the usual ones."""
    usual = dict.fromkeys(("errors.py", "_text.py", "plot/line.py", "sweeps/grid.py"), "")
    usual["result.py"] = "def plot():\n    import rocelab.plot.line\n"
    for name, text in {**usual, **files}.items():
        path = directory / "python" / "rocelab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (directory / "ARCHITECTURE.md").write_text(table)
    done = subprocess.run(
        [sys.executable, TOOL], cwd=directory, check=False, capture_output=True, text=True
    )
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (bool(lines), "")
    return lines


def test_imports_of_rooms_above_are_fine(tmp_path: Path) -> None:
    typed = "if TYPE_CHECKING:\n    from rocelab.sweeps.grid import Axis\n"
    files = {
        "plot/bar.py": f"from rocelab.plot.line import x\nfrom rocelab import errors\n{typed}",
        "sweeps/plan.py": "import polars\nfrom rocelab.plot import line\n",
    }
    assert check(tmp_path, files) == []


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("errors.py", "from rocelab.result import Result", 1),
        ("plot/line.py", "def f():\n    from rocelab.sweeps import grid", 2),
        ("result.py", "import rocelab.plot.line", 1),
        ("plot/line.py", "class A:\n    if x:\n        import rocelab.sweeps.grid", 3),
    ],
    ids=["at the top", "in a function", "of the public API at the top", "nested"],
)
def test_imports_of_rooms_below_are_found(tmp_path: Path, file: str, text: str, line: int) -> None:
    (told,) = check(tmp_path, {file: text})
    assert told.startswith(f"python/rocelab/{file}:{line}: imports ")


def test_every_file_has_one_room(tmp_path: Path) -> None:
    files = {"view/page.py": "import rocelab.errors"}
    assert check(tmp_path, files) == ["ARCHITECTURE.md: no room has view/page.py"]
    table = TABLE.replace("`plot/`", "`plot/`, `sweeps/grid.py`, `gone.py`")
    assert check(tmp_path, {"view/page.py": ""}, table) == [
        "ARCHITECTURE.md: 2 rooms have sweeps/grid.py",
        "ARCHITECTURE.md: no file is `gone.py`",
    ]


def test_the_package_keeps_its_rooms() -> None:
    done = subprocess.run(
        [sys.executable, TOOL], cwd=TOOL.parents[1], check=False, capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("", 0)
