"""The flows that the prototype's authors publish."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rocelab.errors import ConfigError

Flows = list[dict[str, Any]]
"""Messages as in a scenario."""

_HOSTS = 16
"""In a data centre; the file numbers those of the first from 0 on, then those of the second."""
_COLUMNS = 6
"""Source, destination, priority, port, size in bytes, start in seconds."""


def read(directory: Path) -> Flows:
    """The messages of ``flow.txt`` in the prototype's directory ``mix``, tagged by kind.

    They start as long after the first's whole second as there. Raises :class:`ConfigError` where
    the file is missing, or is not one of flows among 32 hosts.
    """
    file = directory / "flow.txt"
    try:
        words = file.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"--flows: cannot read {file}: {getattr(error, 'strerror', None) or error}",
            hint="the directory is `mix` of the THEMIS prototype, with its flow.txt",
        ) from None
    rows = [words[at : at + _COLUMNS] for at in range(1, len(words), _COLUMNS)]
    try:
        if int(words[0]) != len(rows):
            raise ValueError(f"it has {len(rows)} flows and says {words[0]}")
        listed = [
            (int(a), int(b), int(port), int(size), start) for a, b, _, port, size, start in rows
        ]
        starts_ns = [round(1e9 * float(start)) for *_, start in listed]
        hosts = {host for src, dst, *_ in listed for host in (src, dst)}
        if not hosts <= set(range(2 * _HOSTS)):
            raise ValueError(f"host {max(hosts)} is not one of {2 * _HOSTS}")
    except (IndexError, ValueError) as error:
        raise ConfigError(
            f"--flows: {file} is no file of the prototype's flows: {error}",
            hint="the first line has the number of flows, each other one source, destination, "
            "priority, port, size in bytes and start in seconds",
        ) from None
    begin_ns = min(starts_ns) // 10**9 * 10**9
    return [
        {
            "src": _host(src),
            "dst": _host(dst),
            "port": port,
            "size": f"{size}B",
            "start": f"{start_ns - begin_ns}ns",
            "tag": "intra" if src // _HOSTS == dst // _HOSTS else "inter",
        }
        for (src, dst, port, size, _), start_ns in zip(listed, starts_ns, strict=True)
    ]


def _host(number: int) -> str:
    return f"dc{number // _HOSTS}/h{number % _HOSTS}"
