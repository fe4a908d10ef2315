"""The samples of ports that the page shows, by interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocelab._pauses import slow_spans
from rocelab.errors import ResultError
from rocelab.result import failures_of
from rocelab.view.network import Network, called, damaged
from rocelab.view.tree import Interval

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result

QUEUE, UTILISATION, PAUSED = "view-queue", "view-utilisation", "view-paused-share"
"""Series that must be there."""

MAX_CELLS = 2_000_000
"""Intervals times ports. More intervals are joined, several to one."""


def _slow_links(result: Result, network: Network) -> dict[int, list[tuple[int, int | None, float]]]:
    """When the links of ports have another rate than their own, by index of the port."""
    failures = failures_of(result.scenario_toml)
    slowed = {frozenset(one["link"].split(":")) for one in failures if "rate" in one}
    return {
        at: slow_spans(failures, link)
        for at, port in enumerate(network.ports)
        if (link := frozenset((port.node, port.peer))) in slowed
    }


class Grid:
    """The samples of ports, in the order of ports and then of intervals."""

    joined: int
    """Intervals of the probe in one of the page."""
    step_ps: int
    utilisation: pl.Series
    paused: pl.Series
    queue: pl.Series
    """The longest of each interval, both ends included."""

    def __init__(self, result: Result, network: Network) -> None:
        self._network = network
        self._slow = _slow_links(result, network)
        samples = result.series[PAUSED].to_polars()
        times = samples["time_ps"].unique().sort().to_list()
        if not times:
            raise ResultError(
                f"{called(result)}: there are no samples to show",
                hint="run for longer than two intervals of the probe",
            )
        queue_times = result.series[QUEUE].to_polars()["time_ps"].unique().sort().to_list()
        before = [time for time in queue_times if time < times[0]]
        interval_ps = times[0] - before[-1] if before else times[0]
        self.joined = max(1, -(-len(times) * len(network.ports) // MAX_CELLS))
        self.step_ps = interval_ps * self.joined
        self._begin = times[0] - interval_ps
        self._times = times
        self.utilisation = self._means(result, UTILISATION)
        self.paused = self._means(result, PAUSED)
        self.queue, self._queue_at_end = self._queues(result)

    @property
    def steps(self) -> int:
        """Number of intervals."""
        return -(-len(self._times) // self.joined)

    def step(self, column: str = "time_ps") -> pl.Expr:
        """The number of the interval in which a sample falls that is taken at its end."""
        import polars as pl

        before: pl.Expr = (pl.col(column) - self._begin - 1) // self.step_ps
        return before.cast(pl.Int64)

    def _samples(self, result: Result, name: str) -> pl.DataFrame:
        """``at``, ``time_ps`` and ``value``."""
        import polars as pl

        series = result.series[name]
        frame = series.to_polars().rename({series.column: "value"})
        frame = frame.cast({"node": pl.String, "port": pl.Int64, "time_ps": pl.Int64})
        found = frame.join(self._network.index, on=["node", "port"])
        if len(found) < len(frame):
            raise damaged(result, f"the series {name!r} has ports that are not in the network")
        return found.select("at", "time_ps", "value")

    def _means(self, result: Result, name: str) -> pl.Series:
        import polars as pl

        frame = self._samples(result, name).with_columns(self.step().alias("step"))
        frame = frame.filter(pl.col("step").is_between(0, self.steps - 1))
        cell = (pl.col("at") * self.steps + pl.col("step")).alias("cell")
        means = frame.group_by(cell).agg(pl.col("value").mean())
        cells = pl.zeros(len(self._network.ports) * self.steps, pl.Float64, eager=True)
        return cells.scatter(means["cell"], means["value"])

    def _queues(self, result: Result) -> tuple[pl.Series, pl.Series]:
        """The longest queue of each interval, both ends included, and that at its end."""
        import polars as pl

        width = self.steps + 1
        frame = self._samples(result, QUEUE)
        ends = frame.filter(pl.col("time_ps") <= self._times[-1])
        found = (
            ends.with_columns(self.step().alias("step"))
            # What is before the first interval is its beginning.
            .filter(pl.col("step") >= -1)
            .sort("time_ps")
            # With a cell more for each port: the one before the first interval.
            .group_by((pl.col("at") * width + pl.col("step") + 1).alias("cell"))
            .agg(pl.col("value").max().alias("most"), pl.col("value").last().alias("last"))
        )
        empty = pl.zeros(len(self._network.ports) * width, pl.Int64, eager=True)
        most, last = (
            empty.clone().scatter(found["cell"], found[name].cast(pl.Int64))
            for name in ("most", "last")
        )
        cells = pl.DataFrame({"most": most, "last": last, "before": last.shift(1)})
        cells = cells.with_row_index("cell").filter(pl.col("cell") % width > 0)
        longest = cells.select(pl.max_horizontal("most", "before")).to_series()
        return longest, cells["last"]

    def rows(self, cells: pl.Series) -> list[list[Any]]:
        """What ``cells`` have of each port."""
        begins = range(0, len(cells), self.steps)
        return [cells[begin : begin + self.steps].to_list() for begin in begins]

    def intervals(self) -> list[Interval]:
        """All intervals, in order."""
        last = self._times[-1]

        def of_all(cells: pl.Series, step: int) -> list[Any]:
            return cells.gather_every(self.steps, step).to_list()

        def interval(step: int) -> Interval:
            begin_ps = self._begin + step * self.step_ps
            end_ps = min(begin_ps + self.step_ps, last)
            return Interval(
                begin_ps=begin_ps,
                end_ps=end_ps,
                queue=of_all(self.queue, step),
                queue_at_end=of_all(self._queue_at_end, step),
                paused=of_all(self.paused, step),
                slow=self._slow_in(begin_ps, end_ps),
            )

        return [interval(step) for step in range(self.steps)]

    def _slow_in(self, begin_ps: int, end_ps: int) -> dict[int, tuple[float, float]]:
        """Of ports that are slow in an interval: the lowest rate, and that at the end."""
        found: dict[int, tuple[float, float]] = {}
        for at, spans in self._slow.items():
            own = float(self._network.ports[at].rate_bps)
            here = [
                (until, bps)
                for begin, until, bps in spans
                if begin <= end_ps and (until is None or until > begin_ps)
            ]
            if here:
                lasting = [bps for until, bps in here if until is None or until > end_ps]
                found[at] = (min(bps for _, bps in here), lasting[0] if lasting else own)
        return found
