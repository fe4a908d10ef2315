"""The runs of ConWeave's figures: a leaf-spine under Poisson traffic.

Cases are named ``SEED LOAD SCHEME``, the load in per cent of the uplinks' rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rocelab.papers import seeds, setups
from rocelab.papers.conweave import decisions as decided
from rocelab.papers.decisions import Reading
from rocelab.scenario import Scenario

Recovery = Literal["PFC", "IRN"]
"""PFC with go-back-N, or selective repeat without PFC."""

LOADS = (50, 80)
OTHERS = ("ECMP", "LetFlow", "CONGA")
FOUR = ("ConWeave", *OTHERS)
FIVE = (*FOUR, "DRILL")

WARM_UP = 0.05
"""Of the time in which flows arrive, what is left out: 5 ms of 100."""
UPLINKS = "uplinks"
"""The probe of what leaves send to spines."""
INTERVAL_US = 100
"""How long it counts for a sample."""

_LEAVES = _SPINES = 8
_HOSTS_PER_LEAF = 16
_OVERSUBSCRIPTION = _HOSTS_PER_LEAF / _SPINES
_ARRIVALS_MS = 100
_SEEDS = 3
_QUICK_ARRIVALS_MS = 3
_QUICK_SEEDS = 2

QUICK = (
    f"arrivals for {_QUICK_ARRIVALS_MS} ms in place of {_ARRIVALS_MS}, two seeds in place of three"
)


def cases(
    recovery: Recovery, schemes: Sequence[str], reading: Reading, quick: bool
) -> dict[str, Scenario]:
    """A run for each seed, load and scheme."""
    count = _QUICK_SEEDS if quick else _SEEDS
    arrivals_ms = _QUICK_ARRIVALS_MS if quick else _ARRIVALS_MS

    def scenario(name: str, seed: int) -> Scenario:
        load, scheme = name.split(" ", 1)
        return Scenario(
            name=f"conweave-{recovery}-{scheme}-{load}-{seed}".lower(),
            topology={
                "kind": "leaf-spine",
                "leaves": _LEAVES,
                "spines": _SPINES,
                "hosts_per_leaf": _HOSTS_PER_LEAF,
                **setups.links("100Gbps", "1us"),
            },
            # DCQCN as NICs of Mellanox have it, with the values of the simulator's scripts.
            scheme={
                "name": "dcqcn",
                "preset": "dcqcn-hpcc",
                "params": {"min_rate": "100Mbps", "rate_ai": "40Mbps", "rate_hai": "100Mbps"},
            },
            ecn={"kmin": "100KB", "kmax": "400KB", "pmax": 0.2},
            wire={"profile": "hpcc-ns3"},
            switch={"buffer": "9437184B"},
            pfc=_pfc(reading, recovery),
            classes=dict(reading.of(decided.ACKS)),
            host=dict(_HOST[recovery]),
            routing=_routing(reading, recovery, scheme),
            quirks=_quirks(reading, recovery, scheme),
            traffic=[
                {
                    "kind": "poisson",
                    "workload": "AliStorage2019",
                    "load": int(load) / 100 / _OVERSUBSCRIPTION,
                    "duration": f"{arrivals_ms}ms",
                }
            ],
            probe=[
                {
                    "name": UPLINKS,
                    "kind": "throughput",
                    "ports": [
                        f"leaf{leaf}:spine{spine}"
                        for leaf in range(_LEAVES)
                        for spine in range(_SPINES)
                    ],
                    "interval": f"{INTERVAL_US}us",
                }
            ],
            run={"seed": seed},
        )

    names = [f"{load} {scheme}" for load in LOADS for scheme in schemes]
    return seeds.cases(range(1, count + 1), names, scenario)


_HOST: Mapping[Recovery, Mapping[str, Any]] = {
    "PFC": {"reordering_makes_cnp": True},
    "IRN": {
        "recovery": "selective-repeat",
        "loss_after": "gap",
        "in_flight": "104KB",
        "reordering_makes_cnp": True,
    },
}


def _pfc(reading: Reading, recovery: Recovery) -> dict[str, Any]:
    if recovery == "IRN":
        return {"enabled": False}
    return {"alpha": reading.of(decided.PFC_ALPHA), **reading.of(decided.PAUSES)["pfc"]}


def _quirks(reading: Reading, recovery: Recovery, scheme: str) -> dict[str, Any]:
    of_recovery = {
        "PFC": reading.of(decided.PAUSES)["quirks"],
        "IRN": {"conweave_recovery": reading.of(decided.RECOVERY)},
    }
    return {
        "conweave_conga": scheme == "CONGA" and reading.of(decided.CONGA_FORM),
        "conweave_drill": scheme == "DRILL" and reading.of(decided.DRILL_FORM),
        **of_recovery[recovery],
    }


def _routing(reading: Reading, recovery: Recovery, scheme: str) -> dict[str, Any]:
    if scheme == "ConWeave":
        conweave = {
            "header": reading.of(decided.HEADER),
            "path_busy": reading.of(decided.PATH_BUSY),
            "resume_extra": reading.of(decided.RESUME_EXTRA)[recovery],
            "own_memory": reading.of(decided.OWN_MEMORY),
        }
        return {"balance": "conweave", "conweave": conweave}
    routing: dict[str, Any] = {"balance": scheme.lower()}
    if scheme == "CONGA":
        routing["conga"] = dict(reading.of(decided.CONGA))
    return routing
