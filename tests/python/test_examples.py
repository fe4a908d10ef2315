"""What the documentation shows works as it stands."""

from __future__ import annotations

import doctest
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

import rocelab
from rocelab.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[Any]:
    """The blocks of the pages in a language, each known by its page and its line."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            line = text[: block.start()].count("\n") + 1
            found.append(pytest.param(block[1], id=f"{page.relative_to(ROOT)}:{line}"))
    return found


def commands() -> list[Any]:
    """What the pages show of the command, in blocks and between words."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        shown = re.findall(r"`rocelab ([^`]+)`", text)
        for block in re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            lines = block.replace("\\\n", " ").splitlines()
            shown += [line.partition("rocelab ")[2] for line in lines if "rocelab " in line]
        found += [pytest.param(one, id=f"{page.name}: {one}") for one in dict.fromkeys(shown)]
    return found


@cache
def program() -> Any:  # noqa: ANN401
    """The command as Click knows it."""
    return typer.main.get_command(app)


@pytest.mark.parametrize("text", commands())
def test_commands_and_options_of_the_pages_are_there(text: str) -> None:
    words = shlex.split(text.partition(" > ")[0], comments=True)
    whole = program()
    name, rest = ("", words) if words[0].startswith("-") else (words[0], words[1:])
    asked = whole.commands[name] if name else whole
    if rest and rest[0] in getattr(asked, "commands", {}):
        asked = asked.commands[rest[0]]
    options = {option for param in asked.params for option in param.opts} | {"--help"}
    assert {word for word in rest if word.startswith("-")} <= options


@pytest.mark.parametrize("text", blocks("toml"))
def test_scenarios_of_the_pages_are_valid(text: str) -> None:
    """A part of a scenario fits one of the examples."""
    if "[topology]" in text:
        rocelab.Scenario.from_toml(text).validate()
        return
    refusals = []
    for path in sorted((ROOT / "examples").glob("*.toml")):
        try:
            whole = f"{path.read_text(encoding='utf-8')}\n{text}"
            rocelab.Scenario.from_toml(whole).validate()
        except rocelab.ConfigError as refused:
            refusals.append(f"{path.name}: {refused}")
        else:
            return
    pytest.fail("\n".join(refusals))


def test_example_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert found
    names: dict[str, object] = {}
    exec(found[1], names)  # noqa: S102 - our own text
    assert (tmp_path / "queue.png").is_file()
    assert isinstance(names["flows"], pl.DataFrame)
    assert len(names["flows"]) == 10


def test_example_of_the_package() -> None:
    outcome = doctest.testmod(rocelab)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda p: p.name)
def test_examples_are_valid(path: Path) -> None:
    rocelab.load(path).validate()


def test_a_victim_suffers_from_pauses_alone() -> None:
    slowdowns = {}
    for scheme in ("none", "dcqcn", "hpcc"):
        scenario = rocelab.load(ROOT / "examples" / "incast.toml", set={"scheme": scheme})
        flows = rocelab.run(scenario).flows.to_polars()
        slowdowns[scheme] = flows.filter(tag="victim")["slowdown"].item()
    assert slowdowns["none"] > 2 * slowdowns["dcqcn"]
    assert slowdowns["none"] > 2 * slowdowns["hpcc"]
