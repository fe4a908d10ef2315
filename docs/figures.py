"""Draws the pictures of these pages: two flows over time, all schemes together and each alone.

``python docs/figures.py`` needs the ``rocelab`` package of the same tree, and chromium. It draws
``rocelab reproduce baselines/two-flows``, in a resolution for screens, the sweep of its page, and
the head of a report.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import polars as pl
from PIL import Image
from playwright.sync_api import sync_playwright

import rocelab
from rocelab.catalogue import caveats
from rocelab.papers import baselines, plots
from rocelab.papers.decisions import HEADLINE
from rocelab.plot.theme import COLOURS, theme
from rocelab.report import write_report
from rocelab.sweeps.cache import default_cache, run_all

HERE = Path(__file__).parent / "figures"
DPI = 90
SWEEP_DPI = 150
MOST_COLOURS = 256


def main() -> None:
    """Draws all pictures again."""
    argparse.ArgumentParser(description="Draws the pictures of the pages anew.").parse_args()
    HERE.mkdir(exist_ok=True)
    schemes = rocelab.schemes()
    whole = baselines.two_flows(schemes, columns=4)
    runs = run_all(whole.cases(HEADLINE, False), default_cache(), progress=True)
    pictures = {"two-flows": whole}
    pictures |= {one.name: baselines.two_flows([one], columns=2) for one in schemes}
    for name, figure in pictures.items():
        shown = {case: runs[case] for case in figure.cases(HEADLINE, False)}
        notes = caveats(list(shown.values()))
        drawn = plots.picture(figure, plots.data(figure, shown), baselines.PAPER.looks, notes)
        (path,) = rocelab.plot.save(drawn, HERE / name, ["png"], dpi=DPI)
        _shrink(path)
    _sweep()
    _storm()
    _report()


def _sweep() -> None:
    scenario = rocelab.example("fat-tree", set={"topology.k": 4})
    over = {"scheme.name": ["hpcc", "dcqcn", "timely"], "traffic.0.load": [0.3, 0.5, 0.7]}
    drawn = rocelab.sweep(scenario, over, seeds=5).plot("slowdown_p99")
    (path,) = rocelab.plot.save(drawn, HERE / "sweep", ["png"], dpi=SWEEP_DPI)
    _shrink(path)


def _report() -> None:
    """The head of the report that the guide on thresholds ends with."""
    changes: dict[str, Sequence[object]] = {
        "ecn.kmin": ["12.5KB", "20KB"],
        "ecn.kmax": ["500KB", "200KB"],
        "pfc.xon": ["290KB", "270KB"],
        "switch.buffer": ["8MB", "3500KB"],
    }
    shown = ["pause_frames", "storage.slowdown_p99", "web.slowdown_mean", "web.slowdown_p99"]
    scenario = rocelab.example("leaf-spine", set={"name": "storage"})
    with TemporaryDirectory() as place, sync_playwright() as playwright:
        out = Path(place)
        rocelab.sweep(scenario, changes, zipped=[list(changes)], seeds=10, out=out / "chosen")
        page = write_report([out / "chosen"], out / "report.html", metrics=shown)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        opened = browser.new_page(viewport={"width": 1100, "height": 690})
        opened.goto(page.as_uri())
        opened.wait_for_selector(".js-plotly-plot .main-svg")
        opened.screenshot(path=HERE / "report.png")
        browser.close()
    _shrink(HERE / "report.png")


def _storm() -> None:
    """Goodput of the flows to a host whose NIC stalls, and of all others, with and without that."""
    scenario = rocelab.example("pause-storm")
    runs = {"the NIC of h0 stalls": scenario, "it does not": scenario.with_settings(receiver=[])}
    with theme():
        figure, axes = plt.subplots(2, 1, figsize=(6.4, 4.4), sharex=True, layout="constrained")
        for (name, made), colour in zip(runs.items(), COLOURS[1::-1], strict=True):
            result = rocelab.run(made)
            tags = result.flows.to_polars().select("flow_id", "tag")
            series = result.series["goodput"].to_polars().join(tags, on="flow_id")
            for axis, tag in zip(axes, ("to h0", "others"), strict=True):
                total = series.filter(tag=tag).group_by("time_ps").agg(pl.col("goodput_bps").sum())
                total = total.sort("time_ps").filter(pl.col("time_ps") <= 4e9)
                axis.plot(
                    total["time_ps"] / 1e6, total["goodput_bps"] / 1e9, color=colour, label=name
                )
        for axis, title in zip(axes, ("Flows to h0", "Flows between all other hosts"), strict=True):
            axis.axvspan(200, 2200, color="0.9", zorder=0)
            axis.set(ylabel="Goodput (Gb/s)", title=title, ylim=(0, None))
        axes[1].set_xlabel("Time (µs)")
        axes[0].legend(loc="lower right")
    (path,) = rocelab.plot.save(figure, HERE / "pause-storm", ["png"], dpi=SWEEP_DPI)
    _shrink(path)


def _shrink(path: Path) -> None:
    """Lines in a few colours need no more than these, edges included."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(MOST_COLOURS)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
