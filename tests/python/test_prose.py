"""What `make lint` finds in the pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONG = " ".join(["word"] * 36)


def lint(place: Path, text: str) -> tuple[int, str]:
    """The exit code and the output for a tree with the page ``text`` alone."""
    tool = place / "tools/check_text.py"
    for folder in (tool.parent, place / "docs"):
        folder.mkdir()
    tool.write_bytes((ROOT / "tools/check_text.py").read_bytes())
    (place / "docs/page.md").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# A\n\nFirst. Then anew.\n", "private word"),
        ("# A\n\nThe behavior of it.\n", "behaviour"),
        ("# A\n\nIn order to see it.\n", 'write "to"'),
        (f"# A\n\n{LONG}.\n", "a sentence of 36 words"),
        (f"# A\n\nFirst.\n\n- {LONG}.\n", "a sentence of 36 words"),
        ("# A\n\n## B\n\nFirst.\n", "first what it answers"),
        ("# A\n\n```sh\nls\n```\n", "first what it answers"),
        ("A page.\n", "heading"),
    ],
)
def test_a_page_has_an_error(tmp_path: Path, text: str, said: str) -> None:
    code, out = lint(tmp_path, text)
    assert code == 1
    assert said in out


def test_code_quotations_and_tables_are_no_prose(tmp_path: Path) -> None:
    table = f"| a |\n|---|\n| {LONG} |\n"
    text = f'# A\n\nSays "behavior" and `color`.\n\n```\n{LONG} anew\n```\n\n{table}'
    assert lint(tmp_path, text) == (0, "")
