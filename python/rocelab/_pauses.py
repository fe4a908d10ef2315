"""When ports were paused, from the trace of PFC frames and what else ends a pause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rocelab._format import parse, picoseconds
from rocelab._rocelab import scenario_sections

if TYPE_CHECKING:
    import polars as pl

    from rocelab._rocelab import TraceInfo
    from rocelab.result import Result

_QUANTUM_BITS = 512
_PS_PER_S = 10**12


class Pause(NamedTuple):
    """A time in which a priority of a port was paused, in picoseconds."""

    node: str
    port: int
    priority: int
    begin_ps: int
    end_ps: int


def pfc_trace(run: Result) -> TraceInfo:
    """What the summary of ``run`` says of its trace of PFC frames."""
    return next(one for one in run.summary.traces if one.name == "pfc")


def pauses_of(run: Result, frames: pl.DataFrame) -> list[Pause]:
    """The pauses that ``frames``, rows of the trace of ``run``, began, by port and begin.

    A pause ends by a frame, with the failure of the link, or after ``pfc.pause_time``; else with
    the trace. Those that a watchdog ended are not known, see :func:`watchdog_acted`.
    """
    settings = scenario_sections(run.scenario_toml, ["failure", "pfc"])
    failures: list[dict[str, Any]] = settings.get("failure", [])
    pause_time: int | str | None = settings.get("pfc", {}).get("pause_time")
    links = {
        (node, port): (frozenset((node, peer)), rate)
        for node, port, peer, rate in run.ports.to_polars()
        .select("node", "port", "peer", "rate_bps")
        .rows()
    }
    info = pfc_trace(run)
    down = _outages(failures, info.start_ps, info.end_ps)
    found: list[Pause] = []
    for (node, port), rows in frames.partition_by("node", "port", as_dict=True).items():
        link, nominal_bps = links[str(node), int(port)]
        lasts_ps = _pause_time(pause_time, nominal_bps, link, failures)
        events = [*rows.select("time_ps", "priority", "pause").rows()]
        events += [(time_ps, -1, False) for time_ps in down.get(link, ())]
        found += _of_port(str(node), int(port), events, lasts_ps, info.end_ps)
    return sorted(found)


def watchdog_acted(run: Result) -> bool:
    """Whether a watchdog ended pauses, or had packets pass in spite of them."""
    return run.summary.counters.get("watchdog_storms", 0) > 0


def _of_port(
    node: str,
    port: int,
    events: list[tuple[int, int, bool]],
    lasts_ps: Callable[[int], int | None],
    end_ps: int,
) -> list[Pause]:
    """The pauses of a port. An event of priority -1 ends those of all priorities."""
    begun: dict[int, int] = {}
    expires: dict[int, int] = {}
    found: list[Pause] = []

    def end(priority: int, at_ps: int) -> None:
        last_ps = min(at_ps, expires.pop(priority, at_ps))
        found.append(Pause(node, port, priority, begun.pop(priority), last_ps))

    for time_ps, priority, pause in sorted(events, key=lambda event: event[0]):
        for other in [one for one, at_ps in expires.items() if at_ps <= time_ps]:
            end(other, time_ps)
        if pause:
            begun.setdefault(priority, time_ps)
            if (span_ps := lasts_ps(time_ps)) is not None:
                expires[priority] = time_ps + span_ps
        else:
            for other in [one for one in begun if priority in (one, -1)]:
                end(other, time_ps)
    for priority in [*begun]:
        end(priority, max(end_ps, begun[priority]))
    return found


def _outages(
    failures: list[dict[str, Any]], begin_ps: int, end_ps: int
) -> Mapping[frozenset[str], list[int]]:
    """When links failed within the trace. No frame says that their pauses have ended."""
    failed: dict[frozenset[str], list[int]] = defaultdict(list)
    for failure in failures:
        at_ps = picoseconds(failure["at"])
        # A link that is slow or lossy keeps its pauses.
        if not failure.keys() & {"rate", "error_rate"} and begin_ps <= at_ps <= end_ps:
            failed[frozenset(failure["link"].split(":"))].append(at_ps)
    return failed


def slow_spans(
    failures: Iterable[Mapping[str, Any]], link: frozenset[str]
) -> list[tuple[int, int | None, float]]:
    """When a link between two nodes is slow: from, until (None: to the end), its rate in bit/s."""
    return [
        (picoseconds(one["at"]), picoseconds(one["until"]) if "until" in one else None, found[0])
        for one in failures
        if frozenset(one["link"].split(":")) == link
        and "rate" in one
        and (found := parse(one["rate"])) is not None
    ]


def _pause_time(
    given: int | str | None, nominal_bps: int, link: frozenset[str], failures: list[dict[str, Any]]
) -> Callable[[int], int | None]:
    """How long a pause that takes effect at a time lasts; None is until a frame ends it."""
    slow = slow_spans(failures, link)

    def lasts_ps(time_ps: int) -> int | None:
        if given is None:
            return None
        if isinstance(given, str):
            return picoseconds(given)
        now = [
            bps
            for at_ps, until_ps, bps in slow
            if at_ps <= time_ps and (until_ps is None or time_ps < until_ps)
        ]
        bps = now[-1] if now else nominal_bps
        return round(given * _QUANTUM_BITS * _PS_PER_S / bps)

    return lasts_ps
