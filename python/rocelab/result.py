"""What a run leaves behind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rocelab._coverage import Coverage
from rocelab._doubts import doubts_of
from rocelab._format import duration, picoseconds, pluralise, size
from rocelab._rocelab import scenario_sections
from rocelab._text import printable
from rocelab.catalogue import probe_kinds
from rocelab.errors import ConfigError, ResultError
from rocelab.io.files import os_errors_as_result_error
from rocelab.scenario import Scenario
from rocelab.table import ArrowStream, Series, Table

if TYPE_CHECKING:
    from rocelab import _rocelab
    from rocelab.io.checksums import Stored
    from rocelab.plot.accessor import Plots

Value = TypeVar("Value")

OPTIONAL = ("view-rate", "view-window")
"""Series of the probe preset ``view`` that a scheme need not have."""
_MAX_TAGS = 12
"""Tags that a notebook shows."""


class Capture(Protocol):
    """A capture that is made, or read, when it is asked for."""

    def capture(self) -> bytes:
        """All of it."""

    def write_capture(self, path: Path) -> None:
        """Writes it to ``path``, however large it is."""


class Result:
    """The outcome of a run: tables, time series, summary.

    Names of columns end in their unit: ``_ps`` picoseconds, ``_ns`` nanoseconds, ``_bytes``, and
    ``_bps`` bits per second.

    Columns of ``flows``, a row for each message:

    - ``flow_id``, ``qp_id``: numbers of the message, by start, and of its QP
    - ``tag``, ``scheme``, ``src``, ``dst``, ``priority``: of its traffic entry, its hosts
    - ``size_bytes``: payload
    - ``start_ps``, ``fct_ps``: when it was posted, or the earliest time for that where it was not;
      and how long it took, null if it did not end
    - ``ideal_fct_ps``, ``slowdown``: the time that it takes alone, and ``fct_ps`` over that
    - ``retransmitted_bytes``: payload that was sent more than once
    - ``out_of_order_packets``, ``max_reorder_packets``: data packets that arrived ahead of others,
      and the most packets that were missing before one of them, it counted
    - ``max_reorder_bytes``: the most payload that the receiver kept ahead of a gap
    - ``duplicate_bytes``: payload that arrived again
    - ``timeout_bytes``, ``timeouts``: payload sent again after timeouts without an ACK; how many
    - ``path_changes``: how often switches moved it to another path; null where they remember no
      paths of flows, which is with ECMP and where packets are spread one by one
    - ``done``, ``unfinished``: whether it completed, and why not

    Columns of ``ports``, a row for each end of each link:

    - ``node``, ``port``, ``peer``, ``rate_bps``: whose port, its number, the other end, the rate
    - ``tier``, ``peer_tier``: of the node and of the other end; hosts have 0
    - ``tx_bytes``, ``tx_packets``: what it sent, with all headers
    - ``pause_frames_sent``, ``pause_frames_received``, ``paused_ns``: PFC
    - ``max_queue_bytes``, ``ecn_marked_packets``: its longest queue, packets that it marked
    - ``dropped_packets``, ``lost_packets``: without room; on the way to this port, or because its
      link failed while they waited for it

    A table of ``series`` has ``time_ps``, ``node`` and ``port`` or ``flow_id``, and the values in
    its ``column``, measured in its ``unit``.

    ``traces["pfc"]`` has a row for each PFC frame that arrived: ``time_ps``, ``node``, ``port``,
    ``peer``, ``priority`` and ``pause``. ``traces["packets"]`` has a row for each event of a
    packet: ``time_ps``, ``node``, ``port``, ``event``, ``kind``, ``flow_id``, ``priority``,
    ``sequence``, ``payload_bytes``, ``size_bytes``, ``ecn`` and ``queue_bytes``.

    A dictionary of ``drops`` has ``time_ps`` and ``node``; ``port``, the number of the one that the
    packet came in by; ``reason``, what was full; and of the packet ``priority``, ``flow_id`` and
    ``size_bytes`` on the wire.
    """

    flows: Table
    """One row for each message; columns carry their unit, unfinished flows have null times."""
    ports: Table
    """One row for each port, with its counters."""
    series: Mapping[str, Series]
    """What the probes saw, by the probe's name."""
    traces: Mapping[str, Table]
    """Single events, where the scenario asks for them: ``pfc`` and ``packets``."""
    summary: _rocelab.Summary
    """The run in figures, as in ``summary.json``: ``result.summary.flows_done``.

    ``help(result.summary)`` lists all, with their units. ``to_dict()`` makes a dictionary of it.
    """
    drops: list[dict[str, Any]]
    """The first packets that lossless classes lost; empty in a sound network."""
    _stored: Stored | None
    """Its files, where it was read from a directory."""

    def __init__(
        self,
        *,
        flows: Table,
        ports: Table,
        series: Mapping[str, Series],
        traces: Mapping[str, Table],
        capture: bytes | Capture | None,
        summary: _rocelab.Summary,
        drops: Sequence[dict[str, Any]],
        scenario_toml: str | Callable[[], str],
        stored: Stored | None = None,
        scenario: Scenario | None = None,
    ) -> None:
        """``stored`` has the files that it was read from, if any.

        Without ``scenario`` it is made of ``scenario_toml`` when it is asked for.
        """
        self.flows = flows
        self.ports = ports
        self.series = _Tables("probe", series)
        self.traces = _Tables("trace", traces)
        self._capture = capture
        self.summary = summary
        self.drops = list(drops)
        self._scenario_toml = scenario_toml
        self._stored = stored
        self._scenario = scenario

    @classmethod
    def _from_run(cls, raw: _rocelab.RunResult, scenario: Scenario) -> Result:
        """The result of running ``scenario``, from what the simulator returned."""
        summary = raw.summary
        tables, traces = dict(raw.series), dict(raw.traces)
        return cls(
            flows=Table(lambda: raw.flows),
            ports=Table(lambda: raw.ports),
            series=series_of(summary, lambda entry: tables[entry.name]),
            traces={name: Table(partial(traces.__getitem__, name)) for name in traces},
            capture=raw if raw.has_capture else None,
            summary=summary,
            drops=json.loads(raw.drops),
            scenario_toml=scenario.to_toml,
            scenario=scenario,
        )

    @property
    def capture(self) -> bytes | None:
        """The traced packets as a capture (pcapng), where the scenario asks for one."""
        if self._capture is None or isinstance(self._capture, bytes):
            return self._capture
        # It may be large, and is made when it is asked for.
        return self._capture.capture()

    def write_capture(self, path: str | os.PathLike[str]) -> None:
        """Writes the capture to the file ``path``, however large it is.

        Raises :class:`ResultError` where there is none (see :attr:`has_capture`), or where it
        cannot be written.
        """
        if not self.has_capture:
            raise ResultError(
                "the run has no capture",
                hint="name nodes in trace.packets and set trace.capture = true",
            )
        with os_errors_as_result_error(Path(path)):
            self._copy_capture(Path(path))

    def _copy_capture(self, path: Path) -> None:
        """As :meth:`write_capture`, of a result that has one; raises :class:`OSError` instead."""
        if isinstance(self._capture, bytes):
            path.write_bytes(self._capture)
        elif self._capture is not None:
            self._capture.write_capture(path)

    @property
    def has_capture(self) -> bool:
        """Whether there is a capture of the traced packets."""
        return self._capture is not None

    def __getstate__(self) -> dict[str, object]:
        # Pickled as what it is, not as memory of the simulator.
        capture = self._capture if self._stored is not None else self.capture
        return {**self.__dict__, "_capture": capture, "_scenario_toml": self.scenario_toml}

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run."""
        if self._scenario is None:
            self._scenario = self._read_scenario()
        return self._scenario

    def _read_scenario(self) -> Scenario:
        # Where changes to it are refused, lines are those of this file.
        file = self.directory and self.directory / "scenario.toml"
        try:
            return Scenario.from_toml(self.scenario_toml, origin=file)
        except ConfigError as error:
            raise refused_scenario(error) from None

    @cached_property
    def probes(self) -> Mapping[str, dict[str, Any]]:
        """The scenario's probes by name, each with all its keys."""
        return _Named("probe", {one["name"]: one for one in probes_of(self.scenario_toml)})

    @property
    def scenario_toml(self) -> str:
        """The scenario that was run, complete, as TOML."""
        if not isinstance(self._scenario_toml, str):
            # It may be long, and is made when it is asked for.
            self._scenario_toml = self._scenario_toml()
        return self._scenario_toml

    @property
    def partial(self) -> bool:
        """Whether the run was interrupted."""
        return self.summary.partial

    @property
    def warnings(self) -> list[str]:
        """What the user should know: the summary's warnings, and which probes saw nothing."""
        entries = self.summary.series
        empty = [one.name for one in entries if not one.rows and one.name not in OPTIONAL]
        return [*self.summary.warnings, *(self._why_empty(name) for name in empty)]

    @property
    def doubts(self) -> list[str]:
        """The warnings that cast doubt on the numbers.

        They are about unfinished flows, PFC deadlocks and drops in a lossless class.
        """
        return doubts_of(self)

    def _why_empty(self, name: str) -> str:
        """What the user should know of a probe that saw nothing."""
        probe = self.probes[name]
        kind = probe["kind"]
        end_ps = self.summary.simulated_ns * 1000
        no_rows = probe_kinds()[kind].no_rows
        if no_rows and picoseconds(probe["start"]) + picoseconds(probe["interval"]) < end_ps:
            # It looked twice.
            why = no_rows.format(scheme=self.summary.scheme)
        else:
            why = (
                f"it looked for {kind} every {probe['interval']} from {probe['start']} on, and the "
                f"run ended at {duration(end_ps)}"
            )
        return f"probe {name!r} has no rows: {why}"

    @property
    def directory(self) -> Path | None:
        """The directory it was read from, if it was."""
        return self._stored.directory if self._stored else None

    @property
    def unverified(self) -> bool:
        """Whether it was read from files that have no checksums: an earlier version wrote them."""
        return self._stored is not None and self._stored.checksums is None

    @property
    def balance(self) -> Table:
        """How evenly switches spread what they send up: a row for each with several uplinks.

        Uplinks are its ports to switches of one higher tier. Columns: ``node``, ``peer_tier``,
        ``rate_bps`` (null where they have several), ``uplinks``, ``min_bytes``, ``mean_bytes``,
        ``max_bytes``, and ``imbalance``: (max - min) / mean of the time for which they sent, null
        where nothing was sent. A link that a failure slows counts with its own rate.
        """
        from rocelab._balance import balance

        return Table(lambda: balance(self))

    @property
    def plot(self) -> Plots:
        """Pictures of this result: ``result.plot.fct()``."""
        from rocelab.plot.accessor import Plots

        return Plots(self)

    def save(self, directory: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the result to ``directory``, which appears only when it is whole.

        With ``force`` a result that is there is replaced; other files in its directory, such as
        pictures, stay. Raises :class:`ResultError` where it cannot be written.
        """
        from rocelab.io.save import save

        return save(self, Path(directory), force=force)

    def _repr_html_(self) -> str:
        from rocelab._notebook import card

        summary = self.summary
        tags = list(summary.by_tag.items())
        by_tag = [(f"of {tag}", _slowdowns(one.slowdown)) for tag, one in tags[:_MAX_TAGS]]
        if len(tags) > _MAX_TAGS:
            by_tag.append(("of others", f"{len(tags) - _MAX_TAGS:,} more in summary.by_tag"))
        rows = [
            ("scheme", f"{summary.scheme} ({summary.preset}), seed {summary.seed}"),
            ("simulated", duration(summary.simulated_ns * 1000)),
            ("flows", f"{Coverage.of(summary)} done"),
            ("FCT slowdown", _slowdowns(summary.slowdown)),
            *(by_tag if len(tags) > 1 else []),
            ("pauses", pluralise(summary.pause_frames, "frame", "frames")),
            ("drops", f"{summary.drops:,}, {summary.lossless_drops:,} of them lossless"),
            ("longest queue", size(summary.max_queue_bytes)),
            ("series", ", ".join(self.series) or "none"),
        ]
        details = ("scenario", self.scenario_toml)
        return card(f"Result {summary.name}", rows, self.warnings, details=details)

    def __repr__(self) -> str:
        summary = self.summary
        state = ", partial" if self.partial else ""
        return (
            f"<rocelab.Result {summary.name!r} {printable(summary.scheme)}: "
            f"{summary.flows_done} of {summary.flows} flows done{state}>"
        )


def _slowdowns(slowdown: Mapping[str, float | None]) -> str:
    """Mean and percentiles in a line."""
    values = {name: slowdown[name] for name in ("mean", "p50", "p95", "p99")}
    shown = [f"{name} {value:.2f}" for name, value in values.items() if value is not None]
    return "  ".join(shown) or "no flow completed"


def refused_scenario(error: ConfigError) -> ResultError:
    """The error where the scenario of a result is refused: ``error``, and why that may be."""
    if (error.key or "").startswith("scheme"):
        # A project with schemes of the user's has a build of its own.
        return ResultError(
            f"{error.args[0]}; the result was made by another build of rocelab, which has it",
            hint="work in the directory of the scheme's project, or set ROCELAB_MODULE to the file "
            "that `rocelab scheme build` prints",
        )
    return ResultError(f"{error.args[0]}; the result is damaged", hint=error.hint)


def probes_of(scenario_toml: str) -> list[dict[str, Any]]:
    """The probes of a complete scenario. Raises :class:`ConfigError` if it is no TOML."""
    return _sections(scenario_toml, "probe")


def failures_of(scenario_toml: str) -> list[dict[str, Any]]:
    """The link failures of a complete scenario. Raises :class:`ConfigError` if it is no TOML."""
    return _sections(scenario_toml, "failure")


def receivers_of(scenario_toml: str) -> list[dict[str, Any]]:
    """The slow receivers of a complete scenario. Raises :class:`ConfigError` if it is no TOML."""
    return _sections(scenario_toml, "receiver")


def _sections(scenario_toml: str, name: str) -> list[dict[str, Any]]:
    # Without its messages, of which there may be a million.
    found: list[dict[str, Any]] = scenario_sections(scenario_toml, [name]).get(name, [])
    return found


def series_of(
    summary: _rocelab.Summary, source: Callable[[_rocelab.SeriesInfo], ArrowStream]
) -> dict[str, Series]:
    """The series that ``summary`` lists; ``source`` gives the table for an entry."""
    return {
        entry.name: Series(
            partial(source, entry),
            name=entry.name,
            kind=entry.kind,
            unit=entry.unit,
            column=entry.column,
        )
        for entry in summary.series
    }


class _Named(dict[str, Value]):
    """Things by their names. The error for an unknown name lists the known ones."""

    def __init__(self, what: str, things: Mapping[str, Value]) -> None:
        super().__init__(things)
        self._what = what

    def __missing__(self, name: str) -> Value:
        known = ", ".join(self) or "none"
        raise KeyError(f"no {self._what} is called {name!r}; there are: {known}")


class _Tables(_Named[Value]):
    """Tables by their names, which alone are shown: tables may be large, and not read yet."""

    def __repr__(self) -> str:
        return f"<{self._what}s: {', '.join(self) or 'none'}>"
