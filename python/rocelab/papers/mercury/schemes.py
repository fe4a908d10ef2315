"""What Mercury is compared with, in a reading."""

from __future__ import annotations

from typing import Any

from rocelab.papers.decisions import Reading
from rocelab.papers.mercury import decisions as decided

OTHERS = ("Timely", "DCQCN", "DCQCN+TCD", "PACC", "HPCC")
SIX = ("Mercury", *OTHERS)
FOUR = ("Mercury", "DCQCN", "Timely", "HPCC")
SMALL = ("40Gbps", "4us")
"""Rate and delay of the links of the small networks."""


def settings(reading: Reading, name: str, *, coded_rates: bool = False) -> dict[str, Any]:
    """The scheme of this name with all that a reading decides for it.

    ``coded_rates`` says whether the simulator's INT has a code for all rates of the network.
    """
    baselines = reading.of(decided.BASELINES)
    scheme = dict(baselines.schemes[name])
    params = dict(scheme.get("params", {}))
    if name in decided.OVER_DCQCN:
        params |= baselines.senders
        params |= reading.of(decided.FIRST_ALPHA)
        if not reading.of(decided.RATE_SCALE):
            params |= {"rate_ai": "40Mbps", "rate_hai": "400Mbps"}
    if name in ("DCQCN", "DCQCN+TCD") and baselines.marks_in_acks:
        params["notification"] = "ack-echo"
    if name == "Mercury":
        for decision in (decided.THRESHOLD, decided.WINDOW, decided.NOTICES):
            params |= reading.of(decision)
    if name == "HPCC" and baselines.coded_int and not coded_rates:
        params["int_format"] = "full"
    marks = name in ("DCQCN", "DCQCN+TCD")
    return {
        "scheme": {**scheme, "params": params} if params else scheme,
        "wire": {"profile": baselines.wire},
        **({"ecn": {"mark_at": reading.of(decided.MARKING)}} if marks else {}),
    }


def static(xoff_kb: int) -> dict[str, str]:
    """PFC's thresholds, section on parameter settings."""
    return {"threshold": "static", "xoff": f"{xoff_kb}KB", "xon": f"{xoff_kb - 2}KB"}
