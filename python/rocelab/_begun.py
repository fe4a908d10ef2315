"""Which flows of a run had begun when it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocelab._rocelab import scenario_sections

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result


def flows_that_began(result: Result) -> pl.DataFrame:
    """The flows of ``result`` without those that sent nothing.

    Their time had not come, or others come first. What stands in ``start_ps`` then is the earliest
    time that they could start.
    """
    import polars as pl

    flows = result.flows.to_polars()
    if "unfinished" not in flows.columns:
        # An earlier version wrote it. What was to start at the end or later has not begun.
        end_ps = result.summary.simulated_ns * 1000
        return flows.filter(pl.col("fct_ps").is_not_null() | (pl.col("start_ps") < end_ps))
    quirks = scenario_sections(result.scenario_toml, ["quirks"]).get("quirks", {})
    # With this quirk flows that had begun may wait for their port.
    idle = ["not_started"] if quirks.get("missed_wakeup") else ["not_started", "waiting"]
    return flows.filter(~pl.col("unfinished").is_in(idle).fill_null(value=False))
