"""What there is to choose from."""

from __future__ import annotations

import json
from typing import Any

from rocelab import _rocelab


def schemes() -> list[dict[str, Any]]:
    """Every congestion-control scheme, with its presets and parameters."""
    return _list(_rocelab.schemes())


def topologies() -> list[dict[str, Any]]:
    """Every kind of topology."""
    return _list(_rocelab.topologies())


def workloads() -> list[dict[str, Any]]:
    """Every flow-size distribution that comes with rocelab."""
    return _list(_rocelab.workloads())


def presets() -> list[dict[str, Any]]:
    """Every preset of every scheme, with the scheme's name and caveat."""
    return [
        {**preset, "scheme": scheme["name"], "caveat": scheme["caveat"]}
        for scheme in schemes()
        for preset in scheme["presets"]
    ]


def probe_kinds() -> list[str]:
    """Everything that a probe can record."""
    return [kind["const"] for kind in schema()["$defs"]["ProbeKind"]["oneOf"]]


def schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    loaded: dict[str, Any] = json.loads(_rocelab.json_schema())
    return loaded


def _list(text: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(text)
    return loaded
