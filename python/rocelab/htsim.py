"""Connection matrices of htsim (``.cm``) as lists of flows for a scenario.

Such a file begins with ``Nodes N`` and ``Connections M``. Each line that follows is a connection:
``3->7 id 1 start 0 size 2000000``, where sizes are in bytes and starts in picoseconds. htsim writes
starts with a fraction, and cuts it off as it reads them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocelab.errors import ConfigError
from rocelab.io.read import read_bytes

_MAX_BYTES = 1 << 30
_COUNTS = ("Nodes", "Connections", "Triggers", "Failures")
_WORDS = ("id", "start", "size", "prio")
_MAX_DIGITS = 20
"""As many as the largest numbers of htsim have, which are of 64 bits."""
_WAITS = ("trigger", "send_done_trigger", "recv_done_trigger")


@dataclass(frozen=True)
class Connection:
    """A message from one node to another."""

    src: int
    dst: int
    size: int
    """Bytes."""
    start: int
    """Picoseconds."""


@dataclass(frozen=True)
class Matrix:
    """A connection matrix."""

    nodes: int
    connections: list[Connection]
    priorities: int
    """Connections with a ``prio``, which only htsim's receivers heed."""

    def to_csv(self, prefix: str) -> str:
        """A file of flows. Node 3 is the host ``prefix`` and 3."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("src", "dst", "size_bytes", "start_ps"))
        for one in self.connections:
            writer.writerow((f"{prefix}{one.src}", f"{prefix}{one.dst}", one.size, one.start))
        return text.getvalue()


def read_matrix(path: Path) -> Matrix:
    """Reads a connection matrix. Raises :class:`ConfigError` where it is none."""
    counts: dict[str, int] = {}
    connections: list[Connection] = []
    priorities = 0
    for number, words in _lines(path):
        if words[0] in _COUNTS and len(words) == 2:
            counts[words[0]] = _whole(path, number, words[0], words[1])
            continue
        if "Nodes" not in counts:
            raise ConfigError(
                f"{words[0]!r} where the number of nodes should be",
                file=str(path),
                line=number,
                hint="a connection matrix of htsim begins with lines such as Nodes 16 and "
                "Connections 16",
            )
        if words[0] in ("trigger", "failure"):
            raise ConfigError(
                f"{words[0]}s are not served", file=str(path), line=number, hint=_TRIGGER_HINT
            )
        connection, has_priority = _connection(path, number, words, counts["Nodes"])
        connections.append(connection)
        priorities += has_priority
    promised = counts.get("Connections")
    if promised is None or promised != len(connections):
        said = "has no line Connections" if promised is None else f"promises {promised} connections"
        raise ConfigError(
            f"{said}, but lists {len(connections)}", file=str(path), hint="is it complete?"
        )
    return Matrix(counts["Nodes"], connections, priorities)


_TRIGGER_HINT = "a scenario's traffic of kind request-response or collective has messages that wait"


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The words of each line that has some, without comments."""
    try:
        text = read_bytes(path, _MAX_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"cannot read: {error.strerror}", file=str(path)) from None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            yield number, words


def _connection(path: Path, number: int, words: list[str], nodes: int) -> tuple[Connection, bool]:
    ends = words[0].split("->")
    if len(ends) != 2:
        raise ConfigError(
            f"{words[0]!r} is no connection", file=str(path), line=number, hint="such as 3->7"
        )
    src, dst = (_whole(path, number, "a node", end) for end in ends)
    for node in (src, dst):
        if node >= nodes:
            raise ConfigError(
                f"node {node}, but the nodes are 0 to {nodes - 1}", file=str(path), line=number
            )
    if src == dst:
        raise ConfigError(
            f"the connection joins node {src} to itself",
            file=str(path),
            line=number,
            hint="leave it out: it crosses no network",
        )
    values: dict[str, int] = {}
    for word, value in zip(words[1::2], [*words[2::2], ""], strict=False):
        if word in _WAITS:
            raise ConfigError(
                f"the connection has a {word}, which is not served",
                file=str(path),
                line=number,
                hint=_TRIGGER_HINT,
            )
        if word not in _WORDS:
            raise ConfigError(f"unknown word {word!r}", file=str(path), line=number)
        if word == "start":
            whole, _, fraction = value.partition(".")
            if fraction.isascii() and fraction.isdigit():
                value = whole
        values[word] = _whole(path, number, word, value)
    for word in ("start", "size"):
        if word not in values:
            raise ConfigError(f"the connection has no {word}", file=str(path), line=number)
    if values["size"] == 0:
        raise ConfigError("the connection has no end: its size is 0", file=str(path), line=number)
    return Connection(src, dst, values["size"], values["start"]), "prio" in values


def _whole(path: Path, number: int, what: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ConfigError(f"{what} needs a whole number, got {text!r}", file=str(path), line=number)
    digits = text.lstrip("0")
    if len(digits) > _MAX_DIGITS:
        raise ConfigError(f"{what} has more than {_MAX_DIGITS} digits", file=str(path), line=number)
    return int(digits or "0")
