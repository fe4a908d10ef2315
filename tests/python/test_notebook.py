"""What notebooks show of the objects: short, escaped, and about the object."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import rocelab
from conftest import INCAST

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


def test_a_plan_and_a_sweep_show_their_tables(scenario: rocelab.Scenario) -> None:
    assert "smallest_bytes" in outline(scenario.plan()).text
    found = outline(rocelab.sweep(scenario, over={"scheme": ["dcqcn", "hpcc"]}, seeds=2))
    assert "slowdown_p99" in found.text
    assert "dcqcn" in found.text
