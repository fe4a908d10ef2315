"""The networks and traffic of the papers, for any scheme."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rocelab import catalogue
from rocelab.papers.reproduce import PAPERS
from rocelab.scenario import Scenario

_KEPT = ("topology", "traffic", "run", "wire", "pfc", "switch")
"""What a paper decides; marking and what else goes by the scheme are the preset's."""
_INPUT_QUEUE_KB, _DEFAULT_XOFF_KB = 1000, 700
"""Of switches with input queues, where the paper's have none."""


@dataclass(frozen=True)
class Traffic:
    """A network with its traffic, as a figure of a paper has it in the headline reading."""

    paper: str
    figure: str
    case: str
    """The run of the figure whose scheme is exchanged."""
    title: str
    bottleneck: str = ""
    """A port whose queue is watched after a burst."""

    @property
    def id(self) -> str:
        """``paper/figure``, and where that is not enough the workload."""
        workload = self.case.split(" ")[0]
        several = sum(
            other.figure == self.figure for other in TRAFFICS if other.paper == self.paper
        )
        name = f"{self.paper}/{self.figure}"
        return f"{name}/{workload.lower()}" if several > 1 else name

    def scenario(self, scheme: str, seed: int, *, quick: bool) -> Scenario:
        """The run of a scheme with its default preset."""
        given = _given(self, quick)
        known = next(each for each in catalogue.schemes() if each.name == scheme)
        settings: dict[str, Any] = {key: given[key] for key in _KEPT}
        settings["run"] = {**settings["run"], "seed": seed}
        if known.input_queues and settings["switch"]["architecture"] != "cioq":
            settings |= _input_queues(settings["pfc"])
        if self.bottleneck:
            settings["probe"] = [
                {"name": "queue", "kind": "queue", "ports": [self.bottleneck], "interval": "1us"}
            ]
        return Scenario(
            name=f"tournament-{self.id}-{scheme}-{seed}".replace("/", "-"),
            scheme={"name": scheme, "preset": known.presets[0].name},
            **settings,
        )


@cache
def _given(traffic: Traffic, quick: bool) -> Mapping[str, Any]:
    """The scenario of the figure's run. To have one, a figure makes those of all its runs."""
    paper = next(paper for paper in PAPERS if paper.id == traffic.paper)
    figure = next(figure for figure in paper.figures if figure.id == traffic.figure)
    return figure.cases(paper.headline, quick)[traffic.case].to_dict()


def _input_queues(pfc: Mapping[str, Any]) -> dict[str, Any]:
    """Switches with input queues, which have fixed thresholds: the paper's where it has some."""
    xoff = pfc["xoff"] if pfc["threshold"] == "static" else f"{_DEFAULT_XOFF_KB}KB"
    return {
        "switch": {"architecture": "cioq", "input_queue": f"{_INPUT_QUEUE_KB}KB"},
        "pfc": {"threshold": "static", "xoff": xoff},
    }


TRAFFICS: tuple[Traffic, ...] = (
    Traffic("mercury", "fig4", "DCQCN", "an incast of eight and a long flow", "s0:s1"),
    Traffic("mercury", "fig11", "WebSearch 80 1 DCQCN", "WebSearch at 80 % load"),
    Traffic("mercury", "fig11", "WebServer 80 1 DCQCN", "WebServer at 80 % load"),
    Traffic("rcm", "fig8", "hot 40 1 DCQCN", "hot spots at 40 % injection"),
    Traffic("rcm", "fig9", "Enterprise 60 1 DCQCN", "groups, enterprise at 60 % injection"),
    Traffic("fncc", "fig14", "1 DCQCN", "WebSearch at 50 % load"),
    Traffic("fncc", "fig15", "1 DCQCN", "Hadoop at 50 % load"),
    Traffic("hiercc", "fig4", "DCQCN", "two rounds of 15 bursts and a long flow", "tor3:h63"),
    Traffic("hiercc", "fig5", "CacheFollower 80 1 DCQCN", "CacheFollower at 80 % load"),
    Traffic("themis", "steady", "WebSearch 70 1 DCQCN", "two data centres, WebSearch at 70 % load"),
)
