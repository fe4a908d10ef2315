"""Pages in a browser: the report and the fabric view, as a reader uses them."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Iterator
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rocelab
from conftest import INCAST
from rocelab.report import write_report
from rocelab.view import write_view
from rocelab.view.data import collect
from test_view import large_scenario, ring_scenario

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
EVIL = "<script>alert(1)<img src=x onerror=alert(2)>"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")

LOOKS = [(width, colours) for width in (1280, 390) for colours in ("light", "dark")]

Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The system's browser: none is downloaded. A container has no sandbox.
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens a file. In the end nothing may have been said, asked for, or thrown."""
    complaints: list[str] = []
    contexts = []

    def open_file(path: Path, width: int = 1280, colours: str = "light") -> Page:
        options: dict[str, Any] = {"color_scheme": colours}
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(90_000)
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: _note_request(request.url, path, complaints))
        page.goto(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert complaints == []


def _note_request(url: str, path: Path, complaints: list[str]) -> None:
    if url != path.as_uri() and not url.startswith(("data:", "blob:")):
        complaints.append(f"request: {url}")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report")
    runs = []
    for scheme in ("dcqcn", "hpcc"):
        scenario = rocelab.Scenario.from_toml(INCAST)
        scenario = scenario.with_settings(name=EVIL, scheme__name=scheme)
        runs.append(rocelab.run(scenario).save(place / scheme))
    return write_report(runs, place / "report.html")


def _view(scenario: rocelab.Scenario, place: Path) -> Path:
    rocelab.run(scenario).save(place / "run")
    path = write_view(place / "run", place / "view.html")
    assert not path.read_text().count("<img")
    return path


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of an incast and its victim, with names that would be markup."""
    scenario = rocelab.load(
        "examples/incast.toml",
        set={"probe": [{"preset": "view"}], "name": EVIL, "traffic.1.tag": EVIL},
    )
    return _view(scenario, tmp_path_factory.mktemp("view"))


def _ready(page: Page) -> Page:
    page.wait_for_selector("body[data-ready]")
    return page


def _fits(page: Page) -> bool:
    """Whether the page itself need not be scrolled sideways."""
    fits: bool = page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    return fits


@pytest.mark.parametrize(("width", "colours"), LOOKS)
def test_a_report_draws_all_figures(opened: Open, report: Path, width: int, colours: str) -> None:
    page = opened(report, width, colours)
    figures = page.locator("figure .plot")
    assert figures.count() > 3
    assert page.locator("figure .js-plotly-plot").count() == figures.count()
    for at in range(figures.count()):
        assert figures.nth(at).get_attribute("aria-label")
    assert _fits(page)
    assert page.title().startswith("<script>")


def test_axes_of_a_narrow_report_can_be_read(opened: Open, tmp_path: Path) -> None:
    """Sizes over five decades, and a legend that leaves a figure little height."""
    scenario = rocelab.Scenario(
        topology={
            "kind": "leaf-spine",
            "leaves": 4,
            "spines": 4,
            "hosts_per_leaf": 4,
            "host_rate": "100Gbps",
            "host_delay": "1us",
            "rate": "100Gbps",
            "delay": "1us",
        },
        traffic=[
            {"kind": "collective", "operation": "all-to-all", "size": f"{16 * 10**power}B"}
            for power in range(2, 7)
        ],
        probe=[{"name": "queue", "kind": "queue", "ports": ["leaf*:spine*"], "interval": "5us"}],
    )
    run = rocelab.run(scenario).save(tmp_path / "run")
    page = opened(write_report([run], tmp_path / "report.html"), 390)
    sizes = page.locator("figure", has_text="Flow size").first.locator(".xtick text").all()
    boxes = [box for tick in sizes if (box := tick.bounding_box()) is not None]
    assert len(boxes) >= 2
    for left, right in pairwise(boxes):
        assert left["x"] + left["width"] < right["x"]
    queue = page.locator("figure", has_text="Queue length over time").first
    whole, title = queue.locator(".plot").bounding_box(), queue.locator(".ytitle").bounding_box()
    assert whole is not None
    assert title is not None
    assert whole["y"] <= title["y"]


def test_long_names_in_a_narrow_report_are_told_apart(opened: Open, tmp_path: Path) -> None:
    """Names and tags that differ at their ends alone, more of them than a legend has room for."""
    tags = {f"traffic.{at}.tag": f"checkpoints-of-the-cluster-to-store-{at}" for at in range(2)}
    scenario = rocelab.example("incast", set=tags)
    places = []
    for number in range(10):
        name = f"experiment-with-static-thresholds-and-without-spraying-{number}"
        run = rocelab.run(scenario.with_settings(name=name, run__seed=number))
        places.append(run.save(tmp_path / name))
    page = opened(write_report(places, tmp_path / "report.html"), 390)
    figure = page.locator("figure", has_text="FCT slowdown of the flows of each tag")
    legend = figure.locator(".legendtext").all_text_contents()
    assert [name[-2:] for name in legend] == [f"-{number}" for number in range(10)]
    tags_shown = figure.locator(".xtick text")
    assert [text[-2:] for text in tags_shown.all_text_contents()] == ["-0", "-1"]
    box = figure.locator(".plot").bounding_box()
    panel = figure.locator(".plot .nsewdrag").bounding_box()
    names = figure.locator(".legend").bounding_box()
    assert box is not None
    assert panel is not None
    assert names is not None
    assert panel["height"] > 80
    for tick in tags_shown.all():
        place = tick.bounding_box()
        assert place is not None
        assert place["y"] + place["height"] <= names["y"]
    assert names["x"] + names["width"] <= box["x"] + box["width"]


@pytest.mark.parametrize("width", [1280, 390])
def test_long_metrics_of_a_report_fit_beside_their_axis(
    opened: Open, tmp_path: Path, width: int
) -> None:
    tag = "checkpoints-of-the-cluster-to-the-store-of-the-second-rack"
    scenario = rocelab.example("incast", set={"traffic.0.tag": tag})
    rocelab.sweep(
        scenario,
        {"run.time_limit": ["50ms", "90ms"], "scheme": ["hpcc", "dcqcn"]},
        out=tmp_path / "sweep",
    )
    place = tmp_path / "report.html"
    write_report([tmp_path / "sweep"], place, metrics=[f"{tag}.slowdown_p99"])
    page = opened(place, width)
    figure = page.locator("figure", has_text="p99 FCT slowdown").first
    whole, title = figure.locator(".plot").bounding_box(), figure.locator(".ytitle").bounding_box()
    assert whole is not None
    assert title is not None
    assert whole["y"] <= title["y"]
    assert title["y"] + title["height"] <= whole["y"] + whole["height"]


def test_slowdowns_close_together_have_a_scale(opened: Open, tmp_path: Path) -> None:
    """Between 8.8 and 8.9 there is neither a power of ten nor twice or five times one."""
    run = rocelab.run(rocelab.example("incast")).save(tmp_path / "run")
    page = opened(write_report([run], tmp_path / "report.html"))
    figure = page.locator("figure", has_text="FCT slowdown of each tag by flow size").first
    ticks = figure.locator(".ytick text")
    assert ticks.count() >= 3
    figure.locator(".plot").evaluate(
        "(plot) => Plotly.relayout(plot, {'yaxis.range': [Math.log10(6.1), Math.log10(6.3)]})"
    )
    labels = [float(one) for one in ticks.all_text_contents()]
    assert len(labels) >= 3
    assert all(6.1 <= one <= 6.3 for one in labels)


@pytest.fixture(scope="module")
def sweep_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep whose two lines have equal values, with long tables as values of a key."""
    place = tmp_path_factory.mktemp("sweep")
    marking = [{"kmin": f"{size}KB", "kmax": "400KB", "pmax": 0.25} for size in (100, 200)]
    over: dict[str, list[object]] = {"ecn": [*marking], "traffic.0.start": ["0ns", "1ps"]}
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(scheme="hpcc")
    rocelab.sweep(scenario, over, seeds=2, out=place / "sweep")
    return write_report([place / "sweep"], place / "report.html")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_report_of_a_sweep_hides_no_line_behind_another(
    opened: Open, sweep_report: Path, width: int
) -> None:
    page = opened(sweep_report, width)
    # Names of directories in warnings have no spaces to break at.
    assert _fits(page)
    for figure in page.locator("figure .js-plotly-plot").all():
        figure.scroll_into_view_if_needed()
        traces = figure.locator(".scatterlayer .trace").all()
        spots = [{_centre(point) for point in trace.locator(".point").all()} for trace in traces]
        assert len(spots) == 2
        assert all(spots)
        assert not spots[0] & spots[1]
        shapes = {trace.locator(".point").first.get_attribute("d") for trace in traces}
        assert len(shapes) == 2


def _centre(point: Locator) -> tuple[float, float]:
    box = point.bounding_box()
    assert box is not None
    return round(box["x"] + box["width"] / 2, 1), round(box["y"] + box["height"] / 2, 1)


def test_lines_of_a_report_are_switched_and_pointed_at(opened: Open, report: Path) -> None:
    page = opened(report)
    figure = page.locator("figure .js-plotly-plot").first
    figure.scroll_into_view_if_needed()
    lines = figure.locator(".scatterlayer .trace")
    before = lines.count()
    # The p50 of a run is off at first. plotly waits for a second click before it acts on one.
    figure.locator(".legendtoggle").first.click()
    page.wait_for_function(
        "before => document.querySelector('figure').querySelectorAll('.scatterlayer .trace').length"
        " > before",
        arg=before,
    )
    figure.locator(".scatterlayer .trace .point").first.hover(force=True)
    page.wait_for_selector(".hoverlayer .hovertext")
    assert "slowdown" in (page.locator(".hoverlayer .hovertext").first.text_content() or "")


def test_a_report_is_printed_dark_on_light(opened: Open, report: Path) -> None:
    """Protects from light text and lines on paper, where the screen is dark."""
    page = opened(report, colours="dark")
    inks = """() => {
        const tick = document.querySelector(".js-plotly-plot .xtick text");
        const shown = [getComputedStyle(document.body).color, tick.style.fill];
        return shown.map((colour) => Number(colour.match(/\\d+/)[0]));
    }"""
    assert all(ink > 200 for ink in page.evaluate(inks))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert all(ink < 50 for ink in page.evaluate(inks))
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert all(ink > 200 for ink in page.evaluate(inks))


def test_a_report_works_with_keys(opened: Open, report: Path) -> None:
    page = opened(report)
    page.keyboard.press("Tab")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == "Numbers"
    licence = page.locator("footer details")
    licence.locator("summary").focus()
    page.keyboard.press("Enter")
    assert "MIT" in licence.locator("pre").inner_text()


@pytest.mark.parametrize(("width", "colours"), LOOKS)
def test_a_view_reads_well_at_any_width(opened: Open, view: Path, width: int, colours: str) -> None:
    page = _ready(opened(view, width, colours))
    assert _fits(page)
    assert page.title().startswith("<script>")
    label = page.locator("#fabric").get_attribute("aria-label") or ""
    assert re.search(r"\d congestion trees?, 11 paused ports, \d victim flows?", label)
    assert page.evaluate(
        "[...document.querySelectorAll('input,select')].every(o => o.labels.length)"
    )
    # It is drawn: the canvas has many colours.
    colours_drawn = page.evaluate(
        """() => {
            const canvas = document.getElementById("fabric");
            const { width, height } = canvas;
            const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
            const found = new Set();
            for (let at = 0; at < data.length; at += 4) found.add(data.slice(at, at + 3).join());
            return found.size;
        }"""
    )
    assert colours_drawn > 20


def test_the_slider_moves_all_parts_of_a_view(opened: Open, view: Path) -> None:
    page = _ready(opened(view))
    slider, clock = page.locator("#time"), page.locator("#clock")
    slider.focus()
    page.keyboard.press("Home")
    assert clock.inner_text().startswith("10 µs, step 1 of")
    assert "No port is paused." in page.locator("#trees").inner_text()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert clock.inner_text().startswith("210 µs, step 21 of")
    assert "s1 → h2" in page.locator("#trees h3").first.inner_text()
    assert (slider.get_attribute("aria-valuetext") or "").startswith("210 µs: 1 congestion tree")
    assert "9 victim" not in page.locator("#trees").inner_text()


def test_a_view_marks_links_that_are_down_and_hosts_that_stall(
    opened: Open, tmp_path: Path
) -> None:
    """Each is drawn, listed in the steps in which it is, and named at its port."""
    made = rocelab.example("failing-link").with_settings(
        probe=[{"preset": "view"}],
        receiver=[{"hosts": ["h5"], "rate": "0bps", "at": "400us", "until": "600us"}],
    )
    write_view(rocelab.run(made).save(tmp_path / "run"), tmp_path / "view.html")
    page = _ready(opened(tmp_path / "view.html"))
    ink = """(name) => {
        const canvas = document.getElementById("fabric");
        const copy = new OffscreenCanvas(canvas.width, canvas.height);
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        const style = getComputedStyle(document.body).getPropertyValue(name).trim();
        const wanted = [1, 3, 5].map((at) => parseInt(style.slice(at, at + 2), 16)).join();
        let count = 0;
        for (let at = 0; at < data.length; at += 4) {
            if (data.slice(at, at + 3).join() === wanted) count += 1;
        }
        return count;
    }"""
    trees, slider = page.locator("#trees"), page.locator("#time")
    drawn = {}
    for step, down, stalls in ((28, False, False), (35, True, False), (64, True, False)):
        slider.fill(str(step))
        said = trees.inner_text()
        assert ("leaf0:spine0 failed from 300 µs to 700 µs" in said) == down
        assert ("h5 took no data" in said) == stalls
        drawn[step] = page.evaluate(ink, "--text")
    assert drawn[35] > drawn[28] + 20, "a cross"
    slider.fill("45")
    assert "h5 took no data from 400 µs to 600 µs" in trees.inner_text()
    label = page.locator("#fabric").get_attribute("aria-label") or ""
    assert label.endswith(", 1 link is down, 1 slow host")
    page.locator("#wanted").fill("leaf0:spine0")
    page.locator("#find button").click()
    assert page.locator("#passing").inner_text().startswith("The link is down at this moment")
    page.locator("#wanted").fill("leaf1:h5")
    page.locator("#find button").click()
    assert "h5 took no data from 400 µs to 600 µs." in page.locator("#detail").inner_text()
    slider.fill("75")
    assert "Faults" not in trees.inner_text()


def test_ports_and_flows_of_a_view_show_their_series(opened: Open, view: Path) -> None:
    page = _ready(opened(view))
    page.locator("#time").fill("20")
    detail, clock = page.locator("#detail"), page.locator("#clock")
    page.locator("#trees").get_by_role("button", name=EVIL).first.click()
    assert "Flow <script>" in detail.locator("h3").inner_text()
    steps = detail.locator("ul button").all_inner_texts()
    assert steps == ["h1 → s0", "s0 → s1", "s1 → h3"]
    detail.get_by_role("button", name="s0 → s1").click()
    assert detail.locator("h3").inner_text() == "Port s0 → s1"
    assert "2 flows through it" in page.locator("#passing").inner_text()
    charts = detail.locator("svg.chart")
    assert charts.count() == 3
    assert (charts.nth(2).get_attribute("aria-label") or "").startswith("Paused share of the time")
    cursor = charts.first.locator(".cursor")
    before = cursor.get_attribute("x1")
    box = charts.first.bounding_box()
    assert box is not None
    charts.first.click(position={"x": box["width"] * 0.6, "y": 30})
    assert cursor.get_attribute("x1") != before
    assert "step 21 of" not in clock.inner_text()
    # And by name.
    page.fill("#wanted", "s1:h2")
    page.keyboard.press("Enter")
    assert detail.locator("h3").inner_text() == "Port s1 → h2"
    page.fill("#wanted", "nobody")
    page.keyboard.press("Enter")
    assert page.locator("#found").inner_text() == "there is no port or flow nobody"


@pytest.mark.parametrize(("rate", "told"), [("500Kbps", "500 kb/s"), ("2500Kbps", "2.5 Mb/s")])
def test_rates_of_links_need_not_be_whole_mbps(
    opened: Open, tmp_path: Path, rate: str, told: str
) -> None:
    scenario = rocelab.Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": rate, "host_delay": "1us"},
        traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "10KB"}]}],
        scheme="none",
        probe=[{"preset": "view", "interval": "10ms"}],
    )
    page = _ready(opened(_view(scenario, tmp_path)))
    page.fill("#wanted", "s0:h1")
    page.keyboard.press("Enter")
    assert page.locator("#detail").inner_text().split("\n\n")[1].startswith(f"{told}. The other")


def _picture(page: Page) -> str:
    picture: str = page.evaluate("document.getElementById('fabric').toDataURL()")
    return picture


def _find_by_clicks(page: Page, canvas: Locator, found: str) -> bool:
    """Clicks along two lines across the canvas until ``found`` is there."""
    box = canvas.bounding_box()
    assert box is not None
    for share in (0.3, 0.7):
        for x in range(10, int(box["width"]) - 10, 12):
            canvas.click(position={"x": x, "y": box["height"] * share})
            if page.locator(found).count():
                return True
    return False


def test_the_picture_of_a_view_is_clicked_switched_and_played(opened: Open, view: Path) -> None:
    page = _ready(opened(view))
    canvas = page.locator("#fabric")
    assert not page.locator("#detail h3").count()
    assert _find_by_clicks(page, canvas, "#detail h3")
    assert page.locator("#detail h3").inner_text().startswith("Port ")
    pictures = [_picture(page)]
    page.check("#only")
    pictures.append(_picture(page))
    page.select_option("#colour", "queue")
    pictures.append(_picture(page))
    assert "queue" in page.locator("#scale").inner_text()
    page.check("#collapse")
    pictures.append(_picture(page))
    # A click on a box opens it: s0 has the first hosts.
    canvas.click(position={"x": 200, "y": 350})
    pictures.append(_picture(page))
    assert len(set(pictures)) == len(pictures)
    canvas.focus()
    page.keyboard.press("Home")
    page.select_option("#speed", "10")
    drawn = int(canvas.get_attribute("data-drawn") or 0)
    page.keyboard.press("Space")
    assert page.locator("#play").inner_text() == "Pause"
    page.wait_for_function(
        "drawn => Number(document.getElementById('fabric').dataset.drawn) > drawn + 20", arg=drawn
    )
    page.locator("#play").click()
    assert page.locator("#play").inner_text() == "Play"
    assert "step 1 of" not in page.locator("#clock").inner_text()
    page.keyboard.press("Enter")
    assert page.locator("#play").inner_text() == "Pause"


COUNT = """() => {
    window.counted = { strokes: 0, texts: 0 };
    const { prototype } = CanvasRenderingContext2D;
    const { stroke } = prototype;
    prototype.stroke = function () {
        counted.strokes += 1;
        stroke.call(this);
    };
    const texts = new MutationObserver(() => { counted.texts += 1; });
    texts.observe(document.getElementById("trees"), { childList: true });
}"""
"""Counts strokes of the picture, and how often texts are written."""

STROKES_BY_STEP = """() => {
    const slider = document.getElementById("time");
    return Array.from({ length: Number(slider.max) + 1 }, (_, step) => {
        counted.strokes = 0;
        slider.value = String(step);
        slider.dispatchEvent(new Event("input"));
        return counted.strokes;
    });
}"""


def test_a_frame_of_320_hosts_is_drawn_once_and_in_few_strokes(
    opened: Open, tmp_path: Path
) -> None:
    """Protects playback from work that grows; `tools/measure_view.py` measures how fast it is."""
    page = _ready(opened(_view(large_scenario(run__stop="300us"), tmp_path)))
    page.clock.install(time=0)
    page.clock.pause_at(1_000)
    page.evaluate(COUNT)
    # Links of a shade share a stroke, within trees and outside. Signs of pauses and roots do not.
    shown = collect(rocelab.open(tmp_path / "run")).data
    assert len(shown["ports"]) == 960
    paused = [sum(share > 0 for share in shares) for shares in zip(*shown["paused"], strict=True)]
    signs = [ports + len(one["trees"]) for ports, one in zip(paused, shown["moments"], strict=True)]
    strokes = page.evaluate(STROKES_BY_STEP)
    assert any(paused)
    assert all(0 < one <= 2 * 26 + 1 + more for one, more in zip(strokes, signs, strict=True))
    # 29 steps in a second, on a clock that goes on only here, and a frame every 16 ms.
    page.evaluate("document.getElementById('speed').append(new Option('', '1', true, true))")
    page.locator("#time").fill("0")
    drawn = page.locator("#fabric")
    before = int(drawn.get_attribute("data-drawn") or 0)
    page.evaluate("counted.texts = 0")
    page.locator("#play").click()
    page.clock.run_for(800)
    assert page.locator("#play").inner_text() == "Pause"
    assert int(drawn.get_attribute("data-drawn") or 0) - before == 50
    assert 3 <= page.evaluate("counted.texts") <= 4


def test_marks_of_ports_to_the_hosts_of_a_switch_lie_apart(opened: Open, tmp_path: Path) -> None:
    """Protects from roots beside each other whose triangles look like one."""
    set_ = {"probe": [{"preset": "view"}], "topology.k": 8, "run.stop": "50us"}
    page = _ready(opened(_view(rocelab.example("fat-tree", set=set_), tmp_path)))
    layout = files("rocelab.view").joinpath("layout.js").read_text()
    data = collect(rocelab.open(tmp_path / "run")).data
    tiers = [node["tier"] for node in data["nodes"]]
    marks = page.evaluate(
        f"(data) => {{ {layout}; return layOut(data, () => false, 1280, 400).halves.map((half) => "
        "[half.ports[0], ...markOf(half)]); }",
        data,
    )
    by_switch: dict[int, list[tuple[float, float]]] = {}
    for port, x, y in marks:
        node, peer = data["ports"][port][:2]
        if tiers[peer] == 0:
            by_switch.setdefault(node, []).append((x, y))
    assert len(by_switch) == 32
    for places in by_switch.values():
        assert len(places) == 4
        assert min(math.dist(a, b) for at, a in enumerate(places) for b in places[:at]) > 10


def test_a_pause_storm_is_told_with_the_host_that_stalls(opened: Open, tmp_path: Path) -> None:
    scenario = rocelab.example("pause-storm").with_settings(probe=[{"preset": "view"}])
    page = _ready(opened(_view(scenario, tmp_path)))
    head = page.locator("#trees h3", has_text="receiver:").first.inner_text()
    assert re.fullmatch(r"Stalled receiver: leaf0 → h0, paused by the host 100 % of the time", head)
    assert page.locator("#trees h4").first.inner_text().endswith("ports paused because of it")


def test_a_deadlock_is_told_with_its_circle(opened: Open, tmp_path: Path) -> None:
    page = _ready(opened(_view(ring_scenario(), tmp_path)))
    # Each port has a place of its own in the picture: the ring's last link passes no switch.
    layout = files("rocelab.view").joinpath("layout.js").read_text()
    halves = "layOut(data, () => false, 1000, 400).halves"
    middles = page.evaluate(
        f"(data) => {{ {layout}; return {halves}.map((half) => "
        "[(half.x + half.toX) / 2, (half.y + half.toY) / 2]); }",
        collect(rocelab.open(tmp_path / "run")).data,
    )
    apart = [math.dist(a, b) for at, a in enumerate(middles) for b in middles[:at]]
    assert len(middles) == 20
    assert min(apart) > 20
    head = page.locator("#trees h3").first.inner_text()
    assert head.startswith("Deadlock: s0 → s1 waits for s1 → s2")
    assert head.endswith("s4 → s0, which waits for the first")
