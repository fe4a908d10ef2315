"""All commands and code of the documentation run, or are listed with a reason."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest

import command_server
import rocelab
from rocelab import catalogue

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
GUIDE = ROOT / "docs/write-your-own-scheme.md"
"""Its commands are run by `test_scheme_project.py`, in a project that they make."""
LIST = tomllib.loads((ROOT / "tests/python/docs_commands.toml").read_text(encoding="utf-8"))
SLOW = "DOCS_SLOW" in os.environ
"""Whether `make docs-slow` runs this."""

_TIMEOUT_S = 3600 if SLOW else 120
"""Until when a command must have ended."""
_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^```toml\n# (\w+\.toml)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A scenario that a page has its reader write to a file."""
_CODE = ("py", "python")


@dataclass(frozen=True)
class Shown:
    """A command, or a block of Python."""

    page: str
    line: int
    text: str
    is_code: bool = False

    @property
    def key(self) -> str:
        """How the list calls it."""
        return f"code {self.page}: {self.text}" if self.is_code else self.text


def shown() -> Iterator[Shown]:
    """What the pages show, in their order."""
    for page in PAGES:
        if page == GUIDE:
            continue
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(ROOT).as_posix()
        for block in _BLOCK.finditer(text):
            line = text[: block.start()].count("\n") + 2
            if block[1] in _CODE:
                yield Shown(name, line, block[2], is_code=True)
            elif block[1] == "sh":
                for whole in block[2].replace("\\\n", " ").splitlines():
                    command = re.sub(r"(^|\s+)# .*", "", whole).strip()
                    if command:
                        yield Shown(name, line, " ".join(command.split()))


ALL = list(shown())


def entry(one: Shown, kind: str) -> dict[str, str] | None:
    """What the list says of it: the entry with the longest beginning."""
    found = [
        (len(listed["begins"]), kind_of, listed)
        for kind_of in ("slow", "not_run")
        for listed in LIST[kind_of]
        if one.key.startswith(listed["begins"])
    ]
    if not found:
        return None
    _, of, listed = max(found, key=lambda each: each[0])
    return listed if of == kind else None


def runs(one: Shown) -> bool:
    return not entry(one, "not_run") and (SLOW or not entry(one, "slow"))


def test_everything_in_the_list_is_in_the_documentation_and_has_a_reason() -> None:
    for kind in ("slow", "not_run"):
        for listed in LIST[kind]:
            assert listed["why"].strip()
            assert any(entry(one, kind) is listed for one in ALL), listed["begins"]


def test_every_block_of_a_page_has_a_language_that_is_known() -> None:
    known = {*_CODE, "sh", "toml", "rust", "text", "json", "bibtex", "yaml"}
    for page in PAGES:
        fences = re.findall(r"^ *```(\w*)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(fences[::2]) <= {*known, ""}, page
        assert set(fences[1::2]) <= {""}, page


def test_no_guide_needs_the_repository() -> None:
    """A reader may have the package alone: examples go by their names."""
    for one in ALL:
        if one.page.startswith("docs/"):
            assert "examples/" not in one.text, f"{one.page}:{one.line}: {one.text}"


def test_the_list_of_examples_is_complete() -> None:
    page = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    section = page.partition("## Examples")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^\| `([\w-]+)` \|", section)
    assert set(rows) == {one.name for one in catalogue.examples()}


def test_the_page_of_the_package_has_links_that_work_anywhere() -> None:
    page = (ROOT / "python/README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]*)", page)
    assert len(links) > 20
    for link in links:
        path = re.fullmatch(r"https://[\w.]+/rocelab/rocelab/(?:blob/)?main/(.+)", link)
        assert path, link
        assert (ROOT / path[1]).exists(), link


def test_the_page_of_results_has_the_column_of_every_kind_of_probe() -> None:
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    for kind in catalogue.probe_kinds():
        assert re.search(rf"(?m)^\| `{kind}` \| `\w+` \|", page), kind


def test_the_page_of_scenarios_has_the_keys_of_every_table() -> None:
    """Also of tables in lists, such as those of ``ecn.by_rate``."""
    page = (ROOT / "docs/scenario.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"<!-- generated: keys (\w+) -->", page))
    shown = set(re.findall(r"<!-- generated: part (\w+) -->", page))
    schema = rocelab.schema()
    for key in sections - {"top"}:
        shown |= set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema["properties"][key])))
    if "SchemeOrName" in shown:
        shown.add("SchemeSpec")
    tables = {name for name, value in schema["$defs"].items() if "properties" in value}
    assert tables <= shown


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what the pages suppose: files of the HPCC simulator, and those they show."""
    place = tmp_path_factory.mktemp("furnished")
    files = place / "mix"
    files.mkdir()
    for path in (ROOT / "examples/hpcc-files").iterdir():
        text = path.read_text(encoding="utf-8")
        if path.name == "config.txt":
            # Paths are relative to the working directory.
            text = re.sub(r"(?m)^(\w+_FILE) (\w)", r"\1 mix/\2", text)
        (files / path.name).write_text(text, encoding="utf-8")
    words = ["hpcc", "mix/config.txt", "--quiet"]
    done = command_server.run(words, place, dict(os.environ), _TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    for page in PAGES:
        for name, text in _FILE.findall(page.read_text(encoding="utf-8")):
            (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.fixture
def workplace(furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that directory, in which commands may write."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Commands that open a page in a browser open it in this one.
    monkeypatch.setenv("BROWSER", "true")
    return Path(shutil.copytree(furnished, tmp_path / "here", symlinks=True))


def test_the_scenario_of_the_guide_is_the_example(workplace: Path) -> None:
    """What a reader writes is what ``rocelab new leaf-spine`` writes, but for its texts."""
    written = rocelab.load(workplace / "storage.toml").to_dict()
    example = rocelab.example("leaf-spine").to_dict()
    for texts in ("name", "description"):
        example.pop(texts)
        written.pop(texts, None)
    assert written == example


@pytest.mark.parametrize(
    "page", [page for page, of in groupby(ALL, lambda one: one.page) if any(map(runs, of))]
)
def test_commands_and_code_of_a_page_run(
    page: str, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    for one in ALL:
        if one.page != page or not runs(one):
            continue
        if one.is_code:
            # One seed shows as well that the code is right.
            text = one.text.replace("seeds=5", "seeds=1")
            exec(compile(text, f"{page}:{one.line}", "exec"), {})  # noqa: S102 - our own text
            continue
        text, _, target = one.text.partition(" > ")
        name, *words = shlex.split(text)
        assert name == "rocelab", f"{page}:{one.line}: {one.text}: run it here, or list it"
        done = command_server.run(words, workplace, dict(os.environ), _TIMEOUT_S)
        assert done.returncode == 0, f"{page}:{one.line}: {one.text}\n{done.stderr}"
        if target:
            (workplace / target).write_text(done.stdout, encoding="utf-8")


@pytest.mark.parametrize("scheme", [one.name for one in rocelab.schemes()])
def test_every_parameter_of_a_scheme_is_in_a_table(scheme: str) -> None:
    """Schemes over another refer to the table of its page, so any page will do."""
    pages = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    (known,) = (one for one in rocelab.schemes() if one.name == scheme)
    for param in known.params:
        summary = " ".join(param.summary.split()).replace("|", "\\|")
        rows = re.findall(rf"^\| `{param.name}` \|.*$", pages, re.MULTILINE)
        assert any(summary in row for row in rows), param.name
