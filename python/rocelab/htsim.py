"""Connection matrices of htsim (``.cm``) as lists of flows for a scenario.

Such a file begins with ``Nodes N`` and ``Connections M``. Each line that follows is a connection:
``3->7 id 1 start 0 size 2000000``, where sizes are in bytes and starts in picoseconds. htsim writes
starts with a fraction, and cuts it off as it reads them.

In place of a start, a connection may have a trigger: ``7->2 id 2 trigger 1 size 2000000``. With
``recv_done_trigger 1`` another connection fires it when its receiver has everything. A line
``trigger id 1 oneshot`` says what kind it is.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocelab._format import pluralise
from rocelab.errors import ConfigError
from rocelab.io.read import read_bytes

_MAX_BYTES = 1 << 30
_COUNTS = ("Nodes", "Connections", "Triggers", "Failures")
_WORDS = ("id", "start", "size", "prio", "trigger", "recv_done_trigger")
_MAX_DIGITS = 20
"""As many as the largest numbers of htsim have, which are of 64 bits."""
_MAX_START_PS = 10**18
"""The latest time that a scenario may have: `MAX_TIME` of the crate scenario."""
_MAX_SIZE = 4 * 10**12
"""The largest message that it may have: `MAX_MESSAGE` there."""
_BEGIN = "a connection matrix of htsim begins with lines such as Nodes 16 and Connections 16"
"""What a file has that is a matrix."""
_KINDS = ("oneshot", "multishot", "barrier")


@dataclass(frozen=True)
class Connection:
    """A message from one node to another."""

    src: int
    dst: int
    size: int
    """Bytes."""
    start: int
    """Picoseconds."""
    waits: int | None
    """The trigger that starts it."""
    fires: int | None
    """The trigger that it fires when its receiver has everything."""
    line: int


@dataclass(frozen=True)
class Matrix:
    """A connection matrix."""

    nodes: int
    connections: list[Connection]
    """What is waited for stands before what waits."""
    tags: Mapping[int, str]
    """By trigger, the tag of the connections that fire it."""
    priorities: int
    """Connections with a ``prio``, which only htsim's receivers heed."""

    def to_csv(self, prefix: str) -> str:
        """A file of flows. Node 3 is the host ``prefix`` and 3."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        waits = ("tag", "after") if self.tags else ()
        writer.writerow(("src", "dst", "size_bytes", "start_ps", *waits))
        for one in self.connections:
            told = [f"{prefix}{one.src}", f"{prefix}{one.dst}", one.size, one.start]
            if self.tags:
                told += [
                    "" if trigger is None else self.tags[trigger]
                    for trigger in (one.fires, one.waits)
                ]
            writer.writerow(told)
        return text.getvalue()


@dataclass(frozen=True)
class _Trigger:
    kind: str
    count: int
    line: int


def read_matrix(path: Path) -> Matrix:
    """Reads a connection matrix. Raises :class:`ConfigError` where it is none."""
    counts: dict[str, int] = {}
    connections: list[Connection] = []
    triggers: dict[int, _Trigger] = {}
    priorities = 0
    for number, words in _lines(path):
        if words[0] in _COUNTS and len(words) == 2:
            _check_once(path, number, words[0], counts)
            counts[words[0]] = _whole(path, number, words[0], words[1])
            continue
        if "Nodes" not in counts:
            raise ConfigError(
                f"{words[0]!r} where the number of nodes should be",
                file=str(path),
                line=number,
                hint=_BEGIN,
            )
        if words[0] == "failure":
            raise ConfigError(
                "failures are not served",
                file=str(path),
                line=number,
                hint="a scenario has a table [[failure]] for them",
            )
        if words[0] == "trigger":
            id_, trigger = _trigger(path, number, words)
            if id_ in triggers:
                raise ConfigError(
                    f"trigger {id_} is there twice",
                    file=str(path),
                    line=number,
                    hint="leave one out",
                )
            triggers[id_] = trigger
            continue
        connection, has_priority = _connection(path, number, words, counts["Nodes"])
        connections.append(connection)
        priorities += has_priority
    if not counts:
        raise ConfigError("is empty", file=str(path), hint=_BEGIN)
    for word, listed in (("Connections", len(connections)), ("Triggers", len(triggers))):
        promised = counts.get(word)
        if promised is None:
            fits = word == "Triggers" and not listed
            said = f"has no line {word}"
        else:
            fits = promised == listed
            said = f"promises {pluralise(promised, word.lower()[:-1], word.lower())}"
        if not fits:
            raise ConfigError(f"{said}, but lists {listed}", file=str(path), hint="is it complete?")
    steps = _Steps(path, connections, triggers)
    return Matrix(counts["Nodes"], steps.in_order(), steps.tags(), priorities)


class _Steps:
    """What waits for what. A connection is of step 0 if it has a start."""

    def __init__(
        self, path: Path, connections: Sequence[Connection], triggers: Mapping[int, _Trigger]
    ) -> None:
        self.path, self.connections, self.triggers = path, connections, triggers
        self.firing: dict[int, list[Connection]] = defaultdict(list)
        self.waiting: dict[int, list[Connection]] = defaultdict(list)
        for one in connections:
            for trigger, found in ((one.fires, self.firing), (one.waits, self.waiting)):
                if trigger is None:
                    continue
                if trigger not in triggers:
                    raise self._error(f"there is no trigger {trigger}", one.line)
                found[trigger].append(one)
        for id_ in triggers:
            self._check(id_)
        self.steps = self._count()

    def in_order(self) -> list[Connection]:
        """The connections by step, else as they are listed."""
        return sorted(self.connections, key=lambda one: self.steps[one.line])

    def tags(self) -> dict[int, str]:
        """By trigger, the tag of the connections that fire it.

        It has the step of those that wait for it, so that few tags are needed: a host waits for
        what comes to itself alone.
        """
        tags: dict[int, str] = {}
        used: dict[tuple[int, int], int] = defaultdict(int)
        for id_ in sorted(self.triggers):
            first = self.waiting[id_][0]
            step = self.steps[first.line]
            used[step, first.src] += 1
            place = used[step, first.src]
            tags[id_] = f"step {step}" if place == 1 else f"step {step}.{place}"
        return tags

    def _check(self, id_: int) -> None:
        trigger, firing, waiting = self.triggers[id_], self.firing[id_], self.waiting[id_]
        if not firing or not waiting:
            what = "no connection fires it" if not firing else "no connection waits for it"
            raise self._error(f"trigger {id_}: {what}", trigger.line)
        if trigger.kind == "oneshot" and len(firing) > 1:
            raise self._error(
                f"trigger {id_}: {len(firing)} connections fire it, and a oneshot fires once",
                trigger.line,
                f"to wait for all of them: barrier count {len(firing)}",
            )
        if trigger.kind == "barrier" and trigger.count != len(firing):
            raise self._error(
                f"trigger {id_}: its count is {trigger.count}, and "
                f"{pluralise(len(firing), 'connection fires', 'connections fire')} it",
                trigger.line,
                "a barrier here waits for all of them",
            )
        if trigger.kind == "multishot" and max(len(firing), len(waiting)) > 1:
            raise self._error(
                f"trigger {id_}: a multishot of several connections is not served",
                trigger.line,
                "a oneshot or a barrier starts all that wait for it",
            )
        (node, *others) = {*(one.dst for one in firing), *(one.src for one in waiting)}
        if others:
            raise self._error(
                f"trigger {id_}: what waits for it starts at another node than that which receives "
                f"what fires it; nodes {node} and {others[0]}",
                trigger.line,
                "a host here knows only what it receives itself",
            )

    def _count(self) -> dict[int, int]:
        """The steps of the connections, by line."""
        steps: dict[int, int] = {one.line: 0 for one in self.connections if one.waits is None}
        missing = {id_: len(firing) for id_, firing in self.firing.items()}
        done = [one for one in self.connections if one.waits is None]
        for one in done:
            if one.fires is None:
                continue
            missing[one.fires] -= 1
            if missing[one.fires] == 0:
                last = max(steps[before.line] for before in self.firing[one.fires])
                steps |= {after.line: last + 1 for after in self.waiting[one.fires]}
                done += self.waiting[one.fires]
        if len(done) < len(self.connections):
            stuck = next(one for one in self.connections if one.line not in steps)
            raise self._error("the connection waits for itself, through triggers", stuck.line)
        return steps

    def _error(self, message: str, line: int, hint: str | None = None) -> ConfigError:
        return ConfigError(message, file=str(self.path), line=line, hint=hint)


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
        if word == "send_done_trigger":
            raise ConfigError(
                "the connection has a send_done_trigger, which is not served",
                file=str(path),
                line=number,
                hint="recv_done_trigger fires when the receiver has everything",
            )
        if word not in _WORDS:
            raise ConfigError(f"unknown word {word!r}", file=str(path), line=number)
        _check_once(path, number, word, values)
        if word == "start":
            whole, _, fraction = value.partition(".")
            if fraction.isascii() and fraction.isdigit():
                value = whole
        values[word] = _whole(path, number, word, value)
    if "trigger" in values:
        if "start" in values:
            raise ConfigError(
                "the connection has both a start and a trigger", file=str(path), line=number
            )
        values["start"] = 0
    for word in ("start", "size"):
        if word not in values:
            raise ConfigError(f"the connection has no {word}", file=str(path), line=number)
    if values["size"] == 0:
        raise ConfigError("the connection has no end: its size is 0", file=str(path), line=number)
    if values["size"] > _MAX_SIZE:
        raise ConfigError(
            f"the connection has {values['size']} bytes; the most of a message here is {_MAX_SIZE}",
            file=str(path),
            line=number,
        )
    if values["start"] > _MAX_START_PS:
        raise ConfigError(
            f"the connection starts at {values['start']} ps, which is too late; "
            f"the latest time here is {_MAX_START_PS}",
            file=str(path),
            line=number,
            hint="starts are in picoseconds",
        )
    connection = Connection(
        src,
        dst,
        values["size"],
        values["start"],
        values.get("trigger"),
        values.get("recv_done_trigger"),
        number,
    )
    return connection, "prio" in values


def _trigger(path: Path, number: int, words: list[str]) -> tuple[int, _Trigger]:
    values: dict[str, int] = {}
    kinds = []
    rest = iter(words[1:])
    for word in rest:
        if word in _KINDS:
            kinds.append(word)
        elif word in ("id", "count"):
            _check_once(path, number, word, values)
            values[word] = _whole(path, number, word, next(rest, ""))
        else:
            raise ConfigError(f"unknown word {word!r}", file=str(path), line=number)
    if "id" not in values or len(kinds) != 1:
        raise ConfigError(
            "a trigger needs an id and one kind",
            file=str(path),
            line=number,
            hint=f"the kinds are {', '.join(_KINDS)}",
        )
    return values["id"], _Trigger(kinds[0], values.get("count", 0), number)


def _check_once(path: Path, number: int, word: str, known: Mapping[str, int]) -> None:
    """Refuses a word that is there already: it is not known which of the two is meant."""
    if word in known:
        raise ConfigError(
            f"{word} is there twice", file=str(path), line=number, hint="leave one out"
        )


def _whole(path: Path, number: int, what: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ConfigError(f"{what} needs a whole number, got {text!r}", file=str(path), line=number)
    digits = text.lstrip("0")
    if len(digits) > _MAX_DIGITS:
        raise ConfigError(f"{what} has more than {_MAX_DIGITS} digits", file=str(path), line=number)
    return int(digits or "0")
