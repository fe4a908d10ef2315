"""Runs a tournament, and finds who is near the best, and who is best by more than noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from rocelab import catalogue
from rocelab._doubts import doubts_of
from rocelab.errors import ConfigError
from rocelab.scenario import Scenario, compact
from rocelab.sweeps.cache import run_all
from rocelab.sweeps.confidence import interval
from rocelab.sweeps.metrics import Metric, Number, all_metrics, select_metrics
from rocelab.sweeps.warnings import dedup_warnings
from rocelab.tournament.traffics import TRAFFICS, Traffic

SEEDS, QUICK_SEEDS = 5, 3
NEAR = 0.1
"""How far from the best mean a scheme may be to be counted with it, as a share of it."""

_NAMES = (
    *(f"{sizes}_slowdown_p{percent}" for sizes in ("small", "large") for percent in (50, 95, 99)),
    "max_queue_bytes",
    "pause_frames",
    "jain",
    "queue.recovery_ps",
)


def metrics() -> list[Metric]:
    """What schemes are compared by, as sweeps define it."""
    return select_metrics(_NAMES, all_metrics((), {"queue": "queue"}))


@dataclass(frozen=True)
class Entry:
    """What came of one scheme on one traffic."""

    values: Mapping[str, Sequence[Number]]
    """By metrics, a value for each seed; None where a run has none."""
    refused: str = ""
    """Why the scheme cannot run there; then there are no values."""


@dataclass(frozen=True)
class Tournament:
    """All entries, by traffic and scheme."""

    schemes: Sequence[str]
    traffics: Sequence[Traffic]
    seeds: int
    quick: bool
    entries: Mapping[tuple[str, str], Entry]
    doubts: Mapping[str, Sequence[str]]
    """By traffic, the warnings that cast doubt on its numbers."""

    def mean(self, traffic: str, scheme: str, metric: str) -> tuple[float, float | None] | None:
        """Mean and half of the 95 % confidence interval; none where a run has no value."""
        values = self._complete(traffic, scheme, metric)
        return None if values is None else interval(values)

    def near_best(self, traffic: str, metric: Metric) -> list[str]:
        """The schemes whose mean is within `NEAR` of the best mean.

        How far the values of a scheme spread is no part of it: an erratic scheme is not near
        because its interval is wide. Empty where no scheme has a value.
        """
        means = {name: interval(each)[0] for name, each in self._measured(traffic, metric).items()}
        if metric.more_is_better:
            limit = max(means.values(), default=0.0) * (1 - NEAR)
            return [name for name, mean in means.items() if mean >= limit]
        limit = min(means.values(), default=0.0) * (1 + NEAR)
        return [name for name, mean in means.items() if mean <= limit]

    def best(self, traffic: str, metric: Metric) -> str | None:
        """The scheme that all others with a value are behind by more than noise.

        Behind by more than noise is where the 95 % confidence interval of the difference, taken
        seed by seed as all schemes have the same traffic, is on one side of 0.
        """
        found = self._measured(traffic, metric)
        if len(found) < 2:
            return None
        sign = -1 if metric.more_is_better else 1
        first = min(found, key=lambda scheme: sign * interval(found[scheme])[0])

        def is_behind(values: Sequence[float]) -> bool:
            pairs = zip(found[first], values, strict=True)
            mean, half = interval([sign * (b - a) for a, b in pairs])
            return half is not None and mean - half > 0

        others = (values for scheme, values in found.items() if scheme != first)
        return first if all(map(is_behind, others)) else None

    def _measured(self, traffic: str, metric: Metric) -> dict[str, list[float]]:
        """By schemes, the values of all seeds; without schemes of which a run has none."""
        return {
            scheme: values
            for scheme in self.schemes
            if (values := self._complete(traffic, scheme, metric.name)) is not None
        }

    def _complete(self, traffic: str, scheme: str, metric: str) -> list[float] | None:
        values = self.entries[traffic, scheme].values.get(metric, ())
        found = [float(value) for value in values if value is not None]
        return found if found and len(found) == len(values) else None


def chosen_schemes(names: Iterable[str]) -> list[str]:
    """The schemes of these names, all where there is none; raises :class:`ConfigError`."""
    known = [each.name for each in catalogue.schemes()]
    found = list(dict.fromkeys(names))
    for name in found:
        if name not in known:
            raise ConfigError(f"no scheme {name!r}", hint=f"there are: {', '.join(known)}")
    return found or known


def chosen_traffics(papers: Iterable[str]) -> list[Traffic]:
    """The traffic of these papers, of all where there is none; raises :class:`ConfigError`."""
    known = list(dict.fromkeys(traffic.paper for traffic in TRAFFICS))
    names = list(papers)
    for name in names:
        if name not in known:
            raise ConfigError(f"no paper {name!r}", hint=f"there are: {', '.join(known)}")
    return [traffic for traffic in TRAFFICS if not names or traffic.paper in names]


def play(
    schemes: Sequence[str],
    traffics: Sequence[Traffic],
    *,
    cache: Path,
    quick: bool = False,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Tournament:
    """Runs each scheme on each traffic with several seeds; runs are kept in ``cache``."""
    seeds = range(1, (QUICK_SEEDS if quick else SEEDS) + 1)
    refused: dict[tuple[str, str], str] = {}
    wanted: dict[str, Scenario] = {}
    for traffic in traffics:
        for scheme in schemes:
            try:
                cases = {seed: traffic.scenario(scheme, seed, quick=quick) for seed in seeds}
                # What the scheme asks of the network is known once the network is laid out.
                cases[1].plan()
            except ConfigError as error:
                refused[traffic.id, scheme] = error.message
            else:
                wanted |= {
                    f"{traffic.id} {scheme} {seed}": compact(case) for seed, case in cases.items()
                }
    results = run_all(wanted, cache, jobs=jobs, executor=executor, progress=progress)
    entries, doubts = {}, {}
    for traffic in traffics:
        warned: list[tuple[str, list[str]]] = []
        for scheme in schemes:
            if (traffic.id, scheme) in refused:
                entries[traffic.id, scheme] = Entry({}, refused[traffic.id, scheme])
                continue
            runs = [results[f"{traffic.id} {scheme} {seed}"] for seed in seeds]
            entries[traffic.id, scheme] = Entry(
                {metric.name: [metric.read(run) for run in runs] for metric in metrics()}
            )
            warned += [(scheme, doubts_of(run)) for run in runs]
        doubts[traffic.id] = dedup_warnings(warned, len(warned))
    return Tournament(schemes, traffics, len(seeds), quick, entries, doubts)
