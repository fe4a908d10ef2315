"""What notebooks show of the objects: short, escaped, and about the object."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

import rocelab
from conftest import INCAST
from rocelab._progress import bar, runs_bar

EVIL = "<script>alert(1)<b>"


class Outline(HTMLParser):
    """The tags of a page and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def outline(shown: object) -> Outline:
    html = shown._repr_html_()  # type: ignore[attr-defined]
    assert len(html) < 50_000
    found = Outline()
    found.feed(html)
    assert found.open == []
    assert "script" not in found.tags
    return found


@pytest.fixture(scope="module")
def scenario() -> rocelab.Scenario:
    return rocelab.Scenario.from_toml(INCAST).with_settings(name=EVIL)


def test_a_scenario_shows_its_parts_and_all_keys(scenario: rocelab.Scenario) -> None:
    found = outline(scenario)
    assert f"Scenario {EVIL}" in found.text
    assert "incast" in found.text
    assert "[topology]" in found.text


def test_a_result_shows_its_figures_and_warnings(scenario: rocelab.Scenario) -> None:
    result = rocelab.run(scenario.with_settings(run__stop="10us"))
    found = outline(result)
    assert f"{result.summary['flows_done']} of {result.summary['flows']} done" in found.text
    assert result.warnings
    assert all(warning in found.text for warning in result.warnings)


def test_results_and_sweeps_show_numbers_by_tag(scenario: rocelab.Scenario) -> None:
    result = rocelab.run(scenario)
    victim = result.summary["by_tag"]["victim"]["slowdown"]["p99"]
    assert re.search(rf"of victimmean .*p99 {victim:.2f}", outline(result).text, re.DOTALL)
    found = outline(rocelab.sweep(scenario, over={"run.time_limit": ["1s", "2s"]}))
    assert "victim.slowdown_p99" in found.text
    assert "run.time_limit changes nothing" in found.text


def test_a_plan_and_a_sweep_show_their_tables(scenario: rocelab.Scenario) -> None:
    assert "smallest_bytes" in outline(scenario.plan()).text
    found = outline(rocelab.sweep(scenario, over={"scheme": ["dcqcn", "hpcc"]}, seeds=2))
    assert "slowdown_p99" in found.text
    assert "dcqcn" in found.text


def test_help_has_every_column(scenario: rocelab.Scenario) -> None:
    run = rocelab.run(scenario.with_settings(trace={"pfc": True, "packets": ["h0"]}))
    plan = scenario.plan()
    for of, tables in (
        (rocelab.Result, [run.flows, run.ports, *run.traces.values()]),
        (rocelab.Plan, [plan.messages, plan.ports]),
    ):
        text = of.__doc__ or ""
        for table in tables:
            assert [name for name in table.columns if f"``{name}``" not in text] == []


class Shell:
    """What a kernel of Jupyter has."""

    kernel = None


class Displayed:
    """Collects what is displayed and what takes its place."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, html: str, *, display_id: bool) -> Displayed:
        assert display_id
        self.shown.append(html)
        return self

    def update(self, html: str) -> None:
        self.shown.append(html)


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> Displayed:
    """A notebook that collects."""
    found = Displayed()
    notebook = SimpleNamespace(get_ipython=Shell)
    shown = SimpleNamespace(HTML=str, display=found.display)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return found


def test_a_run_has_a_bar_in_a_notebook(
    scenario: rocelab.Scenario, displayed: Displayed, capsys: pytest.CaptureFixture[str]
) -> None:
    with bar(EVIL) as show:
        show(rocelab.Progress(500, 1000, 20, 3, 4, 0.5))
    first, half, last = displayed.shown
    assert 'value="0.0000"' in first
    assert 'value="0.5000"' in half
    assert "3/4 flows" in half
    assert " s left" in half
    assert "<script" not in half
    assert last == ""
    rocelab.run(scenario, progress=True)
    assert displayed.shown[3:][-1] == ""
    assert capsys.readouterr().err == ""


def test_a_sweep_has_a_bar_in_a_notebook(displayed: Displayed) -> None:
    with runs_bar(2, shown=True) as show:
        show("one", 1.0)
        show("two", 0.5)
    assert [html.split(" <progress")[0] for html in displayed.shown[1:3]] == [
        "<div>1.0 of 2 runs",
        "<div>1.5 of 2 runs",
    ]
    with runs_bar(2, shown=False) as show:
        show("one", 1.0)
    assert len(displayed.shown) == 4
