"""What FNCC is compared with, and what all its runs have."""

from __future__ import annotations

from typing import Any

from rocelab.papers.decisions import Reading
from rocelab.papers.fncc import decisions as decided

DELAY = "1.5us"
"""Of each link."""

THREE = ("FNCC", "HPCC", "DCQCN")
FOUR = (*THREE, "RoCC")
_PAPER_GBPS = {"DCQCN": 40, "RoCC": 100}
"""The rates of the settings in the rivals' papers."""


def settings(reading: Reading, name: str, gbps: int) -> dict[str, Any]:
    """The scheme of this name at this rate, and its marking where that is not the preset's."""
    family, _, form = name.partition(" ")
    if family == "FNCC":
        return {"scheme": _fncc(reading, form)}
    if family == "HPCC":
        return {"scheme": {"name": "hpcc", "preset": reading.of(decided.HPCC_FORM)}}
    held = reading.of(decided.RIVALS)
    # The rate that the settings are of; the simulator scales them from there to each port's.
    of_gbps = {"40G": _PAPER_GBPS[family], "100G": 100, "scaled": gbps}[held]
    if family == "RoCC":
        scheme: dict[str, Any] = {"name": "rocc", "preset": "rocc-paper"}
        if of_gbps != gbps:
            scheme["params"] = {"reference_rate": f"{gbps}Gbps"}
        return {"scheme": scheme}
    form = reading.of(decided.DCQCN_FORM)
    scheme = {"name": "dcqcn", "preset": form}
    if of_gbps == gbps or form != "dcqcn-paper":
        return {"scheme": scheme}
    # 40 Mb/s, 400 Mb/s, 5 KB and 200 KB at 40 Gb/s.
    scheme["params"] = {"rate_ai": f"{of_gbps}Mbps", "rate_hai": f"{10 * of_gbps}Mbps"}
    marking = {
        "kmin": f"{125 * of_gbps}B",
        "kmax": f"{5 * of_gbps}KB",
        "reference_rate": f"{gbps}Gbps",
    }
    return {"scheme": scheme, "ecn": marking}


def common(reading: Reading) -> dict[str, Any]:
    """An MTU of 1518 B is 1456 B of payload. Of PFC's thresholds Xoff is given."""
    xoff_kb = reading.of(decided.PFC_THRESHOLD)
    return {
        "wire": {"payload": "1456B"},
        "pfc": {
            "threshold": "static",
            "xoff": f"{xoff_kb}KB",
            "xon": f"{xoff_kb * 1000 - 3036}B",
        },
        "routing": reading.of(decided.PATHS),
        **dict(reading.of(decided.ACK_CLASS)),
    }


def _fncc(reading: Reading, form: str) -> dict[str, Any]:
    params: dict[str, Any] = {
        "update_period": reading.of(decided.TABLE_PERIOD),
        "last_hop_speedup": reading.of(decided.SPEED_UP),
        "base_rtt": reading.of(decided.BASE_RTT),
        "flow_count": reading.of(decided.FLOWS),
        "int_format": reading.of(decided.INT_FORMAT),
        "expected_flows": reading.of(decided.EXPECTED_FLOWS),
    }
    if form == "without LHCS":
        params["last_hop_speedup"] = "off"
    elif form:
        params["int_format"] = {"with 64-bit INT": "fncc-64", "with exact INT": "full"}[form]
    return {"name": "fncc", "preset": "fncc-paper", "params": params}
