"""What the documentation shows works as it stands."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import polars as pl
import pytest

import rocelab
from conftest import Command

ROOT = Path(__file__).parents[2]


def test_example_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert found
    names: dict[str, object] = {}
    exec(found[1], names)  # noqa: S102 - our own text
    assert (tmp_path / "queue.png").is_file()
    assert isinstance(names["flows"], pl.DataFrame)
    assert len(names["flows"]) == 16


def test_example_of_the_package() -> None:
    outcome = doctest.testmod(rocelab)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda p: p.name)
def test_examples_are_valid(command: Command, path: Path) -> None:
    done = command("validate", path)
    assert done.returncode == 0, done.stderr


def test_a_victim_suffers_from_pauses_alone() -> None:
    slowdowns = {}
    for scheme in ("none", "dcqcn", "hpcc"):
        scenario = rocelab.load(ROOT / "examples" / "incast-victim.toml", set={"scheme": scheme})
        flows = rocelab.run(scenario).flows.to_polars()
        slowdowns[scheme] = flows.filter(tag="victim")["slowdown"].item()
    assert slowdowns["none"] > 2 * slowdowns["dcqcn"]
    assert slowdowns["none"] > 2 * slowdowns["hpcc"]
