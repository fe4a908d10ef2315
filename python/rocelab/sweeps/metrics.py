"""The numbers of a run by which sweeps compare runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from rocelab._percentile import of_column
from rocelab.catalogue import Quantity, probe_kinds
from rocelab.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result
    from rocelab.scenario import Scenario
    from rocelab.sweeps.plan import SweepPlan

Key = TypeVar("Key")

Number = int | float | None
"""None where the run has no such number: the slowdown where no message completed."""

SMALL_BYTES = 100_000
"""Messages up to this size are small."""
LARGE_BYTES = 1_000_000
"""Messages of at least this size are large."""


@dataclass(frozen=True)
class Metric:
    """A number of a run."""

    name: str
    """Its column, which ends with the unit where it is not that of a probe's column."""
    title: str
    """What it is called beside an axis."""
    unit: str
    """``bytes``, ``bps``, ``ps``, ``ns``, ``s`` or nothing."""
    read: Callable[[Result], Number]
    whole: bool = False
    """Whether it is an integer."""
    more_is_better: bool = False
    """Whether large values are better than small ones."""

    @property
    def named_with_direction(self) -> str:
        """Its name and which values are good."""
        return f"{self.name} ({'high' if self.more_is_better else 'low'} is good)"

    def head(self, unit: str) -> str:
        """The head of a column of its values in ``unit``."""
        name = self.name.removesuffix(f"_{self.unit}")
        return f"{name} ({unit})" if unit else name


def _summary(
    name: str, title: str, unit: str = "", *, whole: bool = True, more_is_better: bool = False
) -> Metric:
    return Metric(name, title, unit, lambda run: run.summary[name], whole, more_is_better)


def _slowdown(statistic: str, title: str) -> Metric:
    def read(run: Result) -> Number:
        value: Number = run.summary.slowdown[statistic]
        return value

    return Metric(f"slowdown_{statistic}", title, "", read)


def _fct(statistic: str, title: str, read: Callable[[pl.Series], Number]) -> Metric:
    def of_run(run: Result) -> Number:
        return read(run.flows.to_polars()["fct_ps"].drop_nulls())

    return Metric(f"fct_{statistic}_ps", title, "ps", of_run)


def _of_sizes(percent: int, least: float, most: float) -> Callable[[Result], Number]:
    def of_run(run: Result) -> Number:
        flows = run.flows.to_polars()
        chosen = flows.filter(flows["size_bytes"].is_between(least, most))
        return _percentile(percent)(chosen["slowdown"].drop_nulls())

    return of_run


_SIZES: Mapping[str, tuple[str, float, float]] = {
    "small": ("up to 100 KB", 0, SMALL_BYTES),
    "large": ("from 1 MB on", LARGE_BYTES, math.inf),
}


def _mean(values: pl.Series) -> Number:
    return math.fsum(values) / len(values) if len(values) else None


def _percentile(percent: int) -> Callable[[pl.Series], Number]:
    return lambda values: of_column(values, percent) if len(values) else None


def _paused(tier: str, title: str) -> Metric:
    return Metric(
        f"{tier}_paused_ns",
        f"Time paused, {title}",
        "ns",
        lambda run: run.summary.paused_by_tier_ns.get(tier),
        whole=True,
    )


def _uplink_imbalance(run: Result) -> Number:
    """The mean over switches with several uplinks; None where there are none."""
    table = run.balance.to_polars()
    mean = table["imbalance"].mean()
    return mean if isinstance(mean, float) else None


METRICS: tuple[Metric, ...] = (
    _summary("flows", "Messages"),
    _summary("flows_done", "Messages done", more_is_better=True),
    _slowdown("mean", "Mean FCT slowdown"),
    _slowdown("p50", "p50 FCT slowdown"),
    _slowdown("p95", "p95 FCT slowdown"),
    _slowdown("p99", "p99 FCT slowdown"),
    *(
        Metric(
            f"{name}_slowdown_p{percent}",
            f"p{percent} FCT slowdown {words}",
            "",
            _of_sizes(percent, least, most),
        )
        for name, (words, least, most) in _SIZES.items()
        for percent in (50, 95, 99)
    ),
    _fct("mean", "Mean FCT", _mean),
    _fct("p50", "p50 FCT", _percentile(50)),
    _fct("p95", "p95 FCT", _percentile(95)),
    _fct("p99", "p99 FCT", _percentile(99)),
    _summary("intra_inter_slowdown", "Slowdown intra / inter", whole=False),
    _summary("max_queue_bytes", "Longest queue", "bytes"),
    _summary("pause_frames", "PFC pauses"),
    _summary("jain", "Jain's fairness index", whole=False, more_is_better=True),
    _summary("paused_ns", "Time paused, all ports", "ns"),
    _paused("hosts", "ports of hosts"),
    *(_paused(f"tier{n}", f"ports of tier {n} switches") for n in (1, 2, 3, 4)),
    _summary("drops", "Packets dropped"),
    _summary("lossless_drops", "Lossless packets dropped"),
    _summary("lost_packets", "Packets lost on links"),
    _summary("out_of_order_packets", "Packets out of order"),
    _summary("max_reorder_packets", "Largest reordering", "packets"),
    _summary("max_reorder_bytes", "Most kept out of order", "bytes"),
    _summary("retransmitted_bytes", "Payload sent again", "bytes"),
    _summary("duplicate_bytes", "Payload arrived twice", "bytes"),
    _summary("timeout_bytes", "Payload sent again after timeouts", "bytes"),
    _summary("timeouts", "Timeouts"),
    Metric(
        "path_changes",
        "Path changes of flows",
        "",
        lambda run: run.summary.counters.get("path_changes"),
        whole=True,
    ),
    Metric("uplink_imbalance", "Imbalance of uplinks", "", _uplink_imbalance),
    _summary("simulated_ns", "Simulated time", "ns"),
)

_OF_TAGS: Mapping[str, tuple[str, str]] = {
    "flows": ("Messages", ""),
    "flows_done": ("Messages done", ""),
    "slowdown_mean": ("Mean FCT slowdown", ""),
    "slowdown_p50": ("p50 FCT slowdown", ""),
    "slowdown_p95": ("p95 FCT slowdown", ""),
    "slowdown_p99": ("p99 FCT slowdown", ""),
    "makespan_ps": ("First start to last end", "ps"),
    "goodput_bps": ("Goodput", "bps"),
    "jain": ("Jain's fairness index", ""),
}
"""Numbers that ``summary.by_tag`` and ``by_scheme`` have of each name: title and unit."""


def tag_metrics(tags: Iterable[str]) -> list[Metric]:
    """``TAG.flows_done``, ``TAG.slowdown_p99``, ``TAG.goodput_bps`` and so on of each tag.

    Of a run with two schemes, their names serve as tags.
    """
    return [
        Metric(
            f"{tag}.{statistic}",
            f"{title} of {tag}",
            unit,
            _of_tag(tag, statistic),
            whole=statistic in ("flows", "flows_done", "makespan_ps"),
            more_is_better=statistic in ("flows_done", "goodput_bps", "jain"),
        )
        for tag in tags
        for statistic, (title, unit) in _OF_TAGS.items()
    ]


def _of_tag(tag: str, statistic: str) -> Callable[[Result], Number]:
    def of_run(run: Result) -> Number:
        summary = run.summary
        numbers = summary.by_tag.get(tag) or summary.by_scheme.get(tag)
        if numbers is None:
            return None
        slowdown = statistic.removeprefix("slowdown_")
        value: Number = (
            numbers[statistic] if slowdown == statistic else numbers["slowdown"][slowdown]
        )
        return value

    return of_run


_RECOVERED = 0.1
"""A queue has recovered when it is at most this share of its maximum."""


def _recovery(run: Result, name: str) -> Number:
    """From the largest sample of a series to its first later one of at most a tenth, in ps.

    None where no sample is above 0 or the series ends before.
    """
    import polars as pl

    series = run.series.get(name)
    if series is None:
        return None
    samples = series.to_polars()
    # Of several targets the largest counts at each time.
    highest = samples.group_by("time_ps").agg(pl.col(series.column).max()).sort("time_ps")
    values = highest[series.column]
    peak = values.arg_max()
    if peak is None or not values[peak]:
        return None
    later = highest[peak:].filter(pl.col(series.column) <= _RECOVERED * values[peak])
    return None if later.is_empty() else int(later["time_ps"][0] - highest["time_ps"][peak])


_OF_SAMPLES: Mapping[str, tuple[str, Callable[[pl.Series], Number]]] = {
    "mean": ("Mean", _mean),
    "p99": ("p99", _percentile(99)),
    "max": ("Largest", _percentile(100)),
}


def probe_metrics(kinds: Mapping[str, str]) -> list[Metric]:
    """The metrics of each probe in ``kinds``, which has the kind of each by its name.

    ``NAME.mean``, ``NAME.p99`` and ``NAME.max`` are over all samples. ``NAME.recovery_ps`` is the
    time from the largest sample until all targets are at most a tenth of it.
    """
    known = probe_kinds()
    return [
        metric
        for name, kind in kinds.items()
        for unit in (known[kind].unit if kind in known else "",)
        for metric in (
            *(
                Metric(
                    f"{name}.{statistic}",
                    f"{title} of {name}",
                    unit,
                    _of_samples(name, read),
                    # Utilisation is throughput over the rate of the link.
                    more_is_better=unit == "bps" or kind == "utilisation",
                )
                for statistic, (title, read) in _OF_SAMPLES.items()
            ),
            Metric(
                f"{name}.recovery_ps",
                f"Recovery time of {name}",
                "ps",
                partial(_recovery, name=name),
            ),
        )
    ]


def all_metrics(tags: Iterable[str], probes: Mapping[str, str]) -> list[Metric]:
    """The metrics of runs with these ``tags``, and ``probes`` as in :func:`probe_metrics`."""
    return [*METRICS, *tag_metrics(tags), *probe_metrics(probes)]


def catalogue() -> tuple[Quantity, ...]:
    """The numbers of a run that sweeps compare, with their units.

    ``TAG`` stands for a tag of the traffic, and ``PROBE`` for the name of a probe.
    """
    every = all_metrics(["TAG"], {"PROBE": ""})
    return tuple(Quantity(one.name, one.title, one.unit) for one in every)


def known_metrics(scenario: Scenario) -> list[Metric]:
    """The metrics that runs of ``scenario`` have."""
    probes = {probe["name"]: probe["kind"] for probe in scenario.to_dict().get("probe", [])}
    return all_metrics(scenario._groups, probes)


def planned_metrics(names: Iterable[str], plan: SweepPlan) -> list[Metric]:
    """The metrics of these ``names``, each once, before anything is run.

    Raises :class:`ConfigError` where no run of ``plan`` has one of them. Tags and probes may be
    among what varies, so runs are looked at until all are found.
    """
    wanted = list(names)
    known = {metric.name: metric for metric in METRICS}
    # Seeds change neither.
    for case in plan.cases[:: len(plan.seeds)]:
        if known.keys() >= set(wanted):
            break
        known |= {metric.name: metric for metric in known_metrics(plan.scenario_of(case))}
    return select_metrics(wanted, list(known.values()))


def _of_samples(name: str, read: Callable[[pl.Series], Number]) -> Callable[[Result], Number]:
    def of_run(run: Result) -> Number:
        series = run.series.get(name)
        return None if series is None else read(series.to_polars()[series.column].drop_nulls())

    return of_run


def sort_rows(rows: pl.DataFrame, metric: Metric) -> list[int]:
    """The positions of ``rows`` by the mean of ``metric``, best first; those without one last."""
    means = rows[metric.name].to_list()
    sign = -1 if metric.more_is_better else 1

    def rank(at: int) -> tuple[bool, float]:
        mean = means[at]
        return mean is None, 0.0 if mean is None else sign * mean

    return sorted(range(len(means)), key=rank)


def pareto(rows: pl.DataFrame, metrics: Sequence[Metric]) -> list[int]:
    """The positions of the ``rows`` that no other row beats, best first by the first metric.

    A row beats another if it is as good in all ``metrics`` and better in one. Of a single metric
    these are the rows with the best mean.
    """
    columns = [rows[metric.name].to_list() for metric in metrics]
    signs = [-1 if metric.more_is_better else 1 for metric in metrics]
    costs = {
        at: tuple(sign * column[at] for sign, column in zip(signs, columns, strict=True))
        for at in sort_rows(rows, metrics[0])
        if all(column[at] is not None for column in columns)
    }

    return front(costs)


def front(costs: Mapping[Key, tuple[float, ...]]) -> list[Key]:
    """The keys of ``costs`` that no other beats: that is at most as high in all, and lower in one.

    It is the Pareto front, in the order of ``costs``.
    """

    def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    return [
        key for key, cost in costs.items() if not any(beats(one, cost) for one in costs.values())
    ]


def select_metrics(names: Iterable[str], known: Sequence[Metric]) -> list[Metric]:
    """Those of ``known`` that have these names, each once."""
    by_name = {metric.name: metric for metric in known}
    found = list(dict.fromkeys(names))
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"a metric is given by its name, not by {name!r}")
        if name not in by_name:
            near = get_close_matches(name, by_name, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise ConfigError(f"no metric {name!r}", hint=f"{meant}there are: {', '.join(by_name)}")
    return [by_name[name] for name in found]
