"""FNCC under Poisson traffic in a fat tree: figures 14 and 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from rocelab import _format
from rocelab.papers import by_load, by_size, seeds, setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.fncc.schemes import DELAY, THREE, common, settings
from rocelab.papers.model import Claim, Figure
from rocelab.scenario import Scenario

_ARRIVALS_MS = {"WebSearch": 20, "FB_Hadoop": 10}
"""Hadoop's flows are fourteen times as many."""


def _fat_trees(workload: str, reading: Reading, quick: bool) -> dict[str, Scenario]:
    k, count = (4, 2) if quick else (8, 5)
    arrivals_ms = _ARRIVALS_MS[workload] * (0.4 if quick else 1)

    def scenario(name: str, seed: int) -> Scenario:
        return Scenario(
            name=f"fncc-{workload}-{name}-{seed}",
            topology=setups.fat_tree(k, "100Gbps", DELAY),
            traffic=[
                {
                    "kind": "poisson",
                    "workload": workload,
                    "load": 0.5,
                    "duration": f"{arrivals_ms:g}ms",
                }
            ],
            run={"seed": seed},
            **settings(reading, name, 100),
            **common(reading),
        )

    return seeds.cases(range(1, count + 1), THREE, scenario)


_WARM = f"{by_load.WARM}; the ideal FCT is the same for all schemes"


def _changes(
    statistic: str,
    sizes: tuple[str, float, float],
    changes: Mapping[str, float],
    suffix: str = "",
) -> list[Claim]:
    """Over all flows of these sizes, by how many per cent FNCC is above others."""
    words, least, most = sizes
    return [
        Claim(
            f"against-{other.lower()}{suffix}",
            f"{statistic} slowdown of flows {words} against {other}",
            f"{percent:+.1f} %",
            verdict.change(
                by_size.of_seeds("FNCC", statistic, least, most),
                by_size.of_seeds(other, statistic, least, most),
                percent,
                "",
            ),
            assumption=_WARM,
        )
        for other, percent in changes.items()
    ]


def _largest_changes(statistic: str, above: float, changes: Mapping[str, float]) -> list[Claim]:
    """Claims about the largest change of ``statistic``, over sizes above ``above`` bytes."""
    return [
        Claim(
            f"against-{other.lower()}",
            f"{statistic} slowdown of flows above {_format.size(above)} against {other}",
            f"up to {-percent} % lower",
            verdict.up_to(
                by_size.at_sizes("FNCC", statistic, above),
                {other: by_size.at_sizes(other, statistic, above)},
                percent,
                "",
            ),
            assumption=f"{_SIZES}; {_WARM}",
        )
        for other, percent in changes.items()
    ]


_SIZES = "sizes up to that, from the next lower on"


def _fct_figure(
    id_: str,
    workload: str,
    title: str,
    changes: Sequence[Claim],
    lowest: Sequence[str],
) -> Figure:
    """``lowest`` are the statistics by which FNCC is said to be the lowest."""
    return Figure(
        id=id_,
        title=title,
        cases=partial(_fat_trees, workload),
        quick="16 hosts in place of 128, arrivals for two fifths of the time, two seeds in place "
        "of five",
        panels=by_size.panels(THREE),
        claims=[
            *changes,
            *(
                Claim(
                    f"lowest-{which.split()[0].lower()}",
                    f"FNCC has the lowest slowdown at each size: {which.lower()}",
                    "FNCC lowest",
                    verdict.lowest_at_all(
                        {name: by_size.at_sizes(name, which) for name in THREE}, "FNCC", ""
                    ),
                    assumption=f"{_SIZES}; beyond the spread over the seeds",
                )
                for which in lowest
            ),
        ],
    )


_INF = float("inf")
_LONGER = {"HPCC": -12.4, "DCQCN": -42.8}

FIG14 = _fct_figure(
    "fig14",
    "WebSearch",
    "FCT slowdown by flow size, WebSearch at 50 % load",
    [
        *_largest_changes("Median", 1e6, _LONGER),
        # The caption has no "up to".
        *_changes("Median", ("above 1 MB, all together,", 1e6 + 1, _INF), _LONGER, "-all"),
        Claim(
            "long-average",
            "FNCC has the lowest average slowdown of flows above 1 MB",
            "FNCC lowest",
            verdict.lowest(
                {name: by_size.of_seeds(name, "Average", 1e6 + 1) for name in THREE}, "FNCC", ""
            ),
            assumption=_WARM,
        ),
    ],
    # All sizes on average, in the text; the tail, in the figure's caption.
    ("Average", "95th percentile", "99th percentile"),
)
FIG15 = _fct_figure(
    "fig15",
    "FB_Hadoop",
    "FCT slowdown by flow size, Hadoop at 50 % load",
    [
        *_changes("95th percentile", ("below 100 KB", 0, 1e5 - 1), {"HPCC": -27.4, "DCQCN": -88.9}),
        Claim(
            "lowest-short",
            "FNCC has the lowest 95th percentile at each size below 100 KB",
            "FNCC lowest",
            verdict.lowest_at_all(
                {name: by_size.at_sizes(name, "95th percentile", most=1e5) for name in THREE},
                "FNCC",
                "",
            ),
            assumption=f"{_SIZES}; beyond the spread over the seeds",
        ),
    ],
    ("Average",),
)
