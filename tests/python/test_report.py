"""Reports: one HTML file that opens from disk."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import rocelab
from conftest import INCAST, Command
from rocelab.report import write_report
from rocelab.report.charts import Chart
from rocelab.report.content import Cell, Grid, Report, collect
from rocelab.report.page import page


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Results of two schemes."""
    place = tmp_path_factory.mktemp("runs")
    found = []
    for scheme in ("dcqcn", "hpcc"):
        scenario = rocelab.Scenario.from_toml(INCAST).with_settings(scheme__name=scheme)
        found.append(rocelab.run(scenario).save(place / scheme))
    return found


def test_the_answer_has_the_numbers_of_each_run_and_marks_the_best(runs: list[Path]) -> None:
    report = collect(runs)
    (numbers,) = report.answer
    column = numbers.head.index("p99 FCT slowdown of victim")
    values = [rocelab.open(run).summary["by_tag"]["victim"]["slowdown"]["p99"] for run in runs]
    cells = [row[column] for row in numbers.rows]
    assert [float(cell.text) for cell in cells] == [pytest.approx(one, rel=5e-3) for one in values]
    assert [cell.best for cell in cells] == [one == min(values) for one in values]
    # What is 0 in all runs has no column, and is named.
    assert "Packets dropped" not in numbers.head
    assert "Packets dropped" in numbers.note


def test_series_are_drawn_as_they_were_sampled(runs: list[Path]) -> None:
    report = collect(runs[:1])
    (chart,) = (one for one in report.charts if one.title == "Queue length")
    (line,) = chart.data
    samples = rocelab.open(runs[0]).series["bottleneck"]
    values = samples.to_polars()[samples.column]
    assert line["name"] == "s0:h4"
    assert max(line["y"]) * 1000 == pytest.approx(max(values))
    assert len(line["x"]) == min(len(values), 1000)


def test_series_of_flows_and_of_many_ports_are_drawn_highest_first(tmp_path: Path) -> None:
    scenario = rocelab.load(
        "examples/incast-victim.toml", set={"probe": [{"preset": "view"}], "scheme": "hpcc"}
    )
    rocelab.run(scenario).save(tmp_path / "run")
    charts = {one.title: one for one in collect([tmp_path / "run"]).charts}
    assert [line["name"] for line in charts["Rate"].data] == [f"flow {at}" for at in range(10)]
    queue = charts["Queue length"]
    assert len(queue.data) == 16
    assert "Only the 16 of 26 lines" in queue.text
    assert "s1:h2" in [line["name"] for line in queue.data]


def test_the_scenario_is_shown_without_defaults(runs: list[Path]) -> None:
    shown = collect(runs[:1]).scenario
    assert 'name = "dcqcn"' in shown
    assert "max_samples" not in shown
    assert "[run]" not in shown


def test_a_sweep_has_its_combinations_best_first(tmp_path: Path) -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    over = {"ecn.kmin": ["5KB", "20KB", "80KB"], "ecn.kmax": ["100KB", "200KB", "400KB"]}
    rocelab.sweep(scenario, over, out=tmp_path / "sweep")
    report = collect([tmp_path / "sweep"])
    (table,) = report.answer
    column = table.head.index("p99 FCT slowdown")
    values = [float(row[column].text) for row in table.rows]
    assert len(values) == 9
    assert values == sorted(values)
    maps = [one for one in report.charts if one.data and one.data[0]["type"] == "heatmap"]
    assert maps
    with pytest.raises(rocelab.ResultError, match="is a sweep, and a report has one alone"):
        collect([tmp_path / "sweep", tmp_path / "sweep"])


def test_reproduced_figures_have_their_claims_and_pictures(tmp_path: Path) -> None:
    place = tmp_path / "reproduce/fncc/fig9"
    place.mkdir(parents=True)
    claims = [
        {"claim": "queues are short", "paper": "10 KB", "measured": "9 KB", "verdict": "holds"}
    ]
    (place / "claims.json").write_text(json.dumps({"claims": claims}))
    (place / "figure.png").write_bytes(b"no picture, but its bytes are copied")
    report = collect([tmp_path / "reproduce"])
    assert [grid.title for grid in report.details] == ["fncc/fig9"]
    assert [cell.text for cell in report.details[0].rows[0]] == list(claims[0].values())
    assert report.charts[0].picture.startswith("data:image/png;base64,")


class _Tags(HTMLParser):
    """Notes all elements, attributes and the text outside of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def test_no_text_of_a_result_becomes_markup() -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'\u202e"
    chart = Chart(evil, evil, [{"type": "scatter", "name": evil, "x": [1], "y": [2]}], {"a": evil})
    grid = Grid(evil, [evil], [[Cell(evil)]], evil)
    report = Report(evil, [(evil, evil)], [grid], [evil], [chart], [grid], evil, [evil])
    text = page(report)
    found = _Tags()
    found.feed(text)
    assert [tag for tag, _ in found.elements].count("script") == 3
    assert not [tag for tag, _ in found.elements if tag == "img"]
    assert not [one for _, one in found.elements if any(name.startswith("on") for name in one)]
    assert "\u202e" not in text
    (holder,) = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', text)
    (drawn,) = json.loads(holder)
    assert "<" not in drawn["data"][0]["name"]
    assert drawn["data"][0]["name"].startswith("&lt;/script>")


def test_a_report_is_below_the_limit_and_names_no_other_place(
    runs: list[Path], tmp_path: Path
) -> None:
    text = write_report(runs, tmp_path / "report.html").read_text()
    assert len(text) < 10_000_000
    found = _Tags()
    found.feed(text)
    sources = [one[name] for _, one in found.elements for name in ("src", "href") if name in one]
    assert sources == ["data:,"]
    assert "default-src 'none'" in text


def test_the_command_writes_a_report(runs: list[Path], tmp_path: Path, command: Command) -> None:
    done = command("report", *runs, "-o", "all.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "all.html\n")
    failed = command("report", *runs, "-o", "all.pdf", cwd=tmp_path)
    assert (failed.returncode, failed.stderr) == (2, "error: --out all.pdf: must end in .html\n")
    failed = command("report", tmp_path, cwd=tmp_path)
    assert failed.returncode == 2
    assert "summary.json is missing" in failed.stderr
