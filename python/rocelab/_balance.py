"""How evenly switches spread what they send up over links of equal cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocelab.errors import ResultError

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result

GROUP = ("node", "peer_tier")
"""What ports of equal cost have in common."""

KINDS = ("throughput", "utilisation")
"""The kinds of probe whose series show the load of a port over time."""


def uplinks(result: Result) -> pl.DataFrame:
    """The rows of ``ports`` that are uplinks: several of a switch to one higher tier.

    Raises :class:`ResultError` where the result has no tiers: an earlier version wrote it.
    """
    import polars as pl

    ports = result.ports.to_polars()
    if "tier" not in ports.columns:
        raise ResultError("the ports of this result have no tiers", hint="run its scenario again")
    up = ports.filter((pl.col("tier") > 0) & (pl.col("peer_tier") > pl.col("tier")))
    return up.filter(pl.len().over(*GROUP) > 1)


def balance(result: Result) -> pl.DataFrame:
    """A row for each switch with several uplinks: their number, and the bytes that they sent.

    ``rate_bps`` is null where they have several rates. ``imbalance`` is (max - min) / mean of the
    time for which they sent, null where nothing was sent.
    """
    import polars as pl

    sent, rate = pl.col("tx_bytes"), pl.col("rate_bps")
    # Bytes at the highest rate: those that were sent, where uplinks have one rate.
    busy = sent * (rate.max() / rate)
    spread = (busy.max() - busy.min()) / busy.mean()
    return (
        uplinks(result)
        .group_by(*GROUP, maintain_order=True)
        .agg(
            rate_bps=pl.when(rate.min() == rate.max()).then(rate.max()),
            uplinks=pl.len(),
            min_bytes=sent.min(),
            mean_bytes=sent.mean(),
            max_bytes=sent.max(),
            imbalance=pl.when(sent.sum() > 0).then(spread),
        )
    )


def imbalance_over_time(result: Result, series: str) -> pl.DataFrame:
    """``time_ps``, ``node`` and ``imbalance`` of each interval in which a switch sent something up.

    ``series`` names a probe of kind "throughput" or "utilisation" that samples the uplinks.
    """
    import polars as pl

    table = result.series[series]
    if table.kind not in KINDS:
        raise ResultError(
            f"{series} is a series of {table.kind}, and balance is that of {' or '.join(KINDS)}"
        )
    value = pl.col(table.column)
    if table.kind == "throughput":
        value = value * (pl.col("rate_bps").max() / pl.col("rate_bps"))
    ports = uplinks(result).select(*GROUP, "port", "rate_bps")
    return (
        table.to_polars()
        .join(ports, on=["node", "port"])
        .group_by("time_ps", *GROUP, maintain_order=True)
        .agg(
            sampled=pl.len(),
            mean=value.mean(),
            imbalance=(value.max() - value.min()) / value.mean(),
        )
        .filter((pl.col("mean") > 0) & (pl.col("sampled") > 1))
        .select("time_ps", "node", "imbalance")
    )
