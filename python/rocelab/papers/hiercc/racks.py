"""Section 1's bound of the queue at the receiver: the number of racks times C0."""

from __future__ import annotations

from collections.abc import Callable

from rocelab import _format
from rocelab.papers import verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.hiercc.setup import DATA_B, LINE_GBPS, network, scheme, wire
from rocelab.papers.measurements import peak, queue_kb, single
from rocelab.papers.model import Claim, Figure, Line, Measure, Panel, Points, Runs
from rocelab.scenario import Scenario

_RACKS = (1, 4, 9, 19)
_SENDERS = 8
"""Of each rack."""
_SETTLED_US = 100.0
"""From when on no aggregate flow is new."""
_TOR_RTT_US = 8.4
"""Between ToRs of two pods, with the time of packets and credits."""


def _incast(reading: Reading, racks: int) -> Scenario:
    """Eight hosts of each rack send 75 KB to h319, whose rack is the last."""
    hosts = [f"h{16 * rack}..h{16 * rack + _SENDERS - 1}" for rack in range(racks)]
    return Scenario(
        name=f"hiercc-racks-{racks}",
        topology=network("1us"),
        scheme=scheme(reading, "HierCC"),
        traffic=[{"kind": "incast", "senders": hosts, "receiver": "h319", "size": "75KB"}],
        probe=[{"name": "queue", "kind": "queue", "ports": ["tor19:h319"], "interval": "1us"}],
        run={"stop": "1ms"},
        **wire(reading),
    )


def _peak(racks: int) -> Measure:
    return peak(queue_kb(f"{racks}"))


def _later(racks: int) -> Measure:
    return peak(queue_kb(f"{racks}"), _SETTLED_US)


def _initial_kb(runs: Runs) -> float:
    """C0."""
    params = next(iter(runs.values())).scenario.to_dict()["scheme"]["params"]
    parsed = _format.parse(params["initial_credits"])
    assert parsed is not None  # noqa: S101
    kb = parsed[0] / 1e3
    if params["fill_path"]:
        kb = max(kb, LINE_GBPS / 8 * _TOR_RTT_US + DATA_B / 1e3)
    return kb


def _line(name: str, at: Callable[[int], Measure]) -> Line:
    def points(runs: Runs) -> Points:
        return [float(racks) for racks in _RACKS], [single(at(racks)(runs)) for racks in _RACKS]

    return Line(name, points)


def _bound(racks: int) -> Measure:
    return lambda runs: racks * _initial_kb(runs)


def _share_of_bound(runs: Runs) -> float:
    return max(single(_peak(racks)(runs)) / single(_bound(racks)(runs)) for racks in _RACKS)


def _later_of_initial(runs: Runs) -> float:
    return max(single(_later(racks)(runs)) for racks in _RACKS) / _initial_kb(runs)


RACKS = Figure(
    id="racks",
    title="Queue at the receiver's ToR by the number of sending racks (section 1; no figure there)",
    cases=lambda reading, _quick: {f"{racks}": _incast(reading, racks) for racks in _RACKS},
    completion_times=False,
    panels=[
        Panel(
            f"{_SENDERS} hosts of each rack send 75 KB to one receiver",
            "Racks",
            "Queue length (KB)",
            [
                _line("racks x C0", _bound),
                _line("fullest", _peak),
                _line("after 100 µs", _later),
            ],
            marked=True,
            ticks=_RACKS,
        )
    ],
    claims=[
        Claim(
            "bound",
            "The queue at the receiver's ToR is at most the number of racks times C0",
            "Number_rack x C",
            verdict.below({"": _share_of_bound}, 1.0, "of the bound where it is nearest"),
            assumption=f"{_SENDERS} hosts of each of 1 to 19 racks send 75 KB to one receiver",
        ),
        Claim(
            "new-flows",
            "A queue builds up there only while aggregate flows are new",
            "only when newly created",
            verdict.below({"": _later_of_initial}, 1.0, "of C0"),
            assumption=f"from {_SETTLED_US:g} us on less than one C0 waits; the incast goes on",
            reason="while it has data each VOQ keeps C0 under way, together 190 KB from 19 racks; "
            "the path between ToRs holds 26 of them, and the rest waits at the receiver's ToR "
            "until the incast ends",
        ),
    ],
)
