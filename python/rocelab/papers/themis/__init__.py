"""THEMIS: Liu et al., a poster on fairness between flows within and between data centres."""

from __future__ import annotations

from rocelab.papers.model import Paper
from rocelab.papers.themis.parts import ABLATION
from rocelab.papers.themis.prototype import TAB1, TAB2
from rocelab.papers.themis.steady import STEADY, STEADY_FIGURE

PAPER = Paper(
    id="themis",
    citation='Liu et al., "THEMIS: Efficiently Mitigating Congestion-Induced Fairness '
    'Disparities in Long-Haul RDMA Networks" (poster)',
    figures=(TAB1, TAB2, STEADY_FIGURE, ABLATION),
    looks={
        "poster": 0,
        "here": 1,
        "poster's form": 0,
        "prototype": 1,
        **{name: look for look, name in enumerate(STEADY)},
    },
    assumptions=(
        "the network of the prototype's topology file: two data centres of four racks and 16 hosts",
        "100 Gb/s inside, 400 Gb/s to the external switch, 1.6 Tb/s over the long link",
        "tables 1 and 2: the prototype's settings, 96 % load",
        "there destinations are drawn evenly until either kind of flow has its share",
        "steady: DCQCN as in its paper, THEMIS as in the poster, ACKs in a class of their own",
        "steady: requests of 1 KB, responses at once; buffers of 1 GB at the external switches",
    ),
    departures=(
        (
            "tables 1 and 2 have no requests, where the poster has small requests and large "
            "responses, because the prototype's generator makes none; steady has them"
        ),
        (
            "in table 2 THEMIS is the prototype's form, where section 2 has another, because the "
            "table was made with it; the poster's form is a bar beside it"
        ),
        (
            "with the prototype's stall four flows of 11608 never ended, and are left out, because "
            "they have no completion time"
        ),
    ),
)
