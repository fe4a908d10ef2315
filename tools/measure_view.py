"""Measures what the fabric view costs with 320 hosts: the probe preset and the page.

It needs the installed package with its extra "dev", and chromium. It prints the numbers of
docs/view.md.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import rocelab
from rocelab.view import write_view

RUNS = 5
SECONDS = 5


def scenario(probe: list[dict[str, object]]) -> rocelab.Scenario:
    """Web search at half load and four incasts of 60 hosts, for 2 ms, under DCQCN."""
    delays = {f"{name}_delay": "1us" for name in ("host", "agg", "core")}
    return rocelab.Scenario(
        name="view-320",
        topology={
            "kind": "three-tier",
            "pods": 5,
            "tors_per_pod": 4,
            "aggs_per_pod": 4,
            "cores": 16,
            "hosts_per_tor": 16,
            "host_rate": "100Gbps",
            "agg_rate": "400Gbps",
            "core_rate": "400Gbps",
            **delays,
        },
        traffic=[
            {"kind": "poisson", "tag": "web", "workload": "WebSearch", "load": 0.5},
            {
                "kind": "incast",
                "senders": 60,
                "size": "500KB",
                "start": "200us",
                "repeat": 4,
                "period": "400us",
            },
        ],
        scheme={"name": "dcqcn"},
        run={"stop": "2ms"},
        probe=probe,
    )


def run_seconds(probe: list[dict[str, object]]) -> tuple[float, rocelab.Result]:
    """The median time of a run, and its result."""
    times = []
    for _ in range(RUNS):
        before = time.perf_counter()
        result = rocelab.run(scenario(probe))
        times.append(time.perf_counter() - before)
    return statistics.median(times), result


def frames_per_second(path: Path) -> dict[str, float]:
    """How often the page is drawn in playback, with nothing, a port and a flow chosen."""
    from playwright.sync_api import sync_playwright

    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]")
        page.select_option("#speed", "10")
        for choice in ("nothing", "tor5:h84", "flow 793"):
            if choice != "nothing":
                page.fill("#wanted", choice)
                page.keyboard.press("Enter")
            page.locator("#time").fill("20")
            canvas = page.locator("#fabric")
            before, begin = int(canvas.get_attribute("data-drawn") or 0), time.perf_counter()
            page.click("#play")
            page.wait_for_timeout(1000 * SECONDS)
            drawn = int(canvas.get_attribute("data-drawn") or 0) - before
            found[choice] = drawn / (time.perf_counter() - begin)
            page.click("#play")
        browser.close()
    return found


def main() -> int:
    """Prints what was measured."""
    plain, _ = run_seconds([])
    with_view, result = run_seconds([{"preset": "view"}])
    print(f"run without probes {plain:.2f} s, with the preset {with_view:.2f} s, median of {RUNS}")
    with tempfile.TemporaryDirectory() as place:
        saved = result.save(Path(place) / "run")
        series = sorted((saved / "series").iterdir())
        print(f"series {sum(one.stat().st_size for one in series):,} bytes")
        for one in series:
            print(f"  {one.name} {one.stat().st_size:,} bytes")
        before = time.perf_counter()
        page = write_view(saved, Path(place) / "view.html")
        print(
            f"page written in {time.perf_counter() - before:.1f} s, {page.stat().st_size:,} bytes"
        )
        for choice, rate in frames_per_second(page).items():
            print(f"frames per second with {choice} chosen: {rate:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
