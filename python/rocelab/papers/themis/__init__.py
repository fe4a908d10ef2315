"""THEMIS: Liu et al., a poster on fairness between flows within and between data centres."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rocelab.papers.model import Paper
from rocelab.papers.themis import published
from rocelab.papers.themis.decisions import DECISIONS, PUBLISHED, READINGS
from rocelab.papers.themis.parts import ABLATION
from rocelab.papers.themis.prototype import tables
from rocelab.papers.themis.steady import STEADY, STEADY_FIGURE

PAPER = Paper(
    id="themis",
    citation='Liu et al., "THEMIS: Efficiently Mitigating Congestion-Induced Fairness '
    'Disparities in Long-Haul RDMA Networks" (poster)',
    figures=(*tables(), STEADY_FIGURE, ABLATION),
    looks={
        "here": 0,
        "poster": 1,
        "THEMIS": 0,
        **{name: look for look, name in enumerate(STEADY, 1) if name != "THEMIS"},
    },
    assumptions=(
        "the network of the prototype's topology file: two data centres of four racks and 16 hosts",
        "100 Gb/s inside, 400 Gb/s to the external switch, 1.6 Tb/s over the long link",
        (
            "tables 1 and 2: the prototype's settings, 96 % load; flows have no requests, as its "
            "generator makes none; its external switches send a CNP for each marked packet and one "
            "more every 10 us, where the poster has one for a flow every 50 us"
        ),
        "tables 1 and 2: destinations are drawn evenly until either kind of flow has its share",
        "steady and ablation have no stall (decision T5), as all flows must end there",
        "steady: DCQCN as in its paper, THEMIS as in the poster, ACKs in a class of their own",
        "steady: requests of 1 KB, responses at once; buffers of 1 GB at the external switches",
        (
            "`rocelab reproduce themis --flows DIR` runs the flows that the prototype's authors "
            "publish, which are not part of rocelab; DIR is their directory mix. The page of "
            "claims in the documentation has them as of 27 November 2026"
        ),
    ),
    decisions=DECISIONS,
    readings=READINGS,
)


def with_flows(directory: Path) -> Paper:
    """The paper with the reading ``published flows``, of the file in ``directory``.

    Raises :class:`ConfigError` where there is no such file.
    """
    return replace(
        PAPER,
        figures=(*tables(published.read(directory)), STEADY_FIGURE, ABLATION),
        readings=(*READINGS, PUBLISHED),
    )
