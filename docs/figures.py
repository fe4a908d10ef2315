"""Draws the pictures of these pages: two flows over time, all schemes together and each alone.

``python docs/figures.py`` needs the ``rocelab`` package of the same tree. What it draws is
``rocelab reproduce baselines/two-flows``, in a resolution for screens, and the sweep of its page.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from PIL import Image

import rocelab
from rocelab.papers import baselines, plots
from rocelab.papers.decisions import HEADLINE
from rocelab.plot.footnotes import caveats
from rocelab.sweeps.cache import default_cache, run_all

HERE = Path(__file__).parent / "figures"
EXAMPLES = Path(__file__).parents[1] / "examples"
DPI = 90
SWEEP_DPI = 150
COLOURS = 256


def main() -> None:
    """Draws all pictures again."""
    argparse.ArgumentParser(description="Draws the pictures of the pages anew.").parse_args()
    HERE.mkdir(exist_ok=True)
    schemes = rocelab.schemes()
    whole = baselines.two_flows(schemes, columns=4)
    runs = run_all(whole.cases(HEADLINE, False), default_cache(), progress=True)
    pictures = {"two-flows": whole}
    pictures |= {one["name"]: baselines.two_flows([one], columns=2) for one in schemes}
    for name, figure in pictures.items():
        shown = {case: runs[case] for case in figure.cases(HEADLINE, False)}
        notes = caveats(list(shown.values()))
        drawn = plots.picture(figure, plots.data(figure, shown), baselines.PAPER.looks, notes)
        (path,) = rocelab.plot.save(drawn, HERE / name, ["png"], dpi=DPI)
        _shrink(path)
    _sweep()


def _sweep() -> None:
    scenario = rocelab.load(EXAMPLES / "fat-tree-websearch.toml", set={"topology.k": 4})
    over = {"scheme.name": ["hpcc", "dcqcn", "timely"], "traffic.0.load": [0.3, 0.5, 0.7]}
    drawn = rocelab.sweep(scenario, over, seeds=5).plot("slowdown_p99")
    (path,) = rocelab.plot.save(drawn, HERE / "sweep", ["png"], dpi=SWEEP_DPI)
    _shrink(path)


def _shrink(path: Path) -> None:
    """Lines in a few colours need no more than these, edges included."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
