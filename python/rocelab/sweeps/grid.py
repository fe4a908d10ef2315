"""What a sweep varies: keys of a scenario, their values, and all combinations of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from rocelab._format import parse
from rocelab._plain import setting
from rocelab.errors import ConfigError
from rocelab.io.names import bounded, escaped
from rocelab.sweeps.ranges import check_has_count, expand

_SUCH_AS = "such as --zip pfc.xoff,pfc.xon"
"""How keys are zipped."""


@dataclass(frozen=True)
class Value:
    """A value of a key."""

    key: str
    text: str
    """As ``--set`` takes it."""

    @cached_property
    def data(self) -> object:
        """What it is: a TOML value, or the bare word where it is none."""
        import tomllib

        try:
            found = tomllib.loads(f"v = {self.text}")
        except (ValueError, RecursionError):
            # More digits or brackets than Python reads are none, too: the scenario refuses them.
            return self.text
        return found["v"] if len(found) == 1 else self.text

    @cached_property
    def label(self) -> str:
        """What people call it: words without quotes, numbers as short as can be."""
        return self.data if isinstance(self.data, str) else setting(self.data, self.key)

    @property
    def worth(self) -> tuple[float, str] | str:
        """A number and the smallest unit of its kind, however it is written; else the label."""
        if isinstance(self.data, int | float) and not isinstance(self.data, bool):
            return float(self.label), ""
        return (parse(self.data) if isinstance(self.data, str) else None) or self.label


@dataclass(frozen=True)
class Axis:
    """A key and the values that it takes; one that changes with another key may have some again."""

    key: str
    values: tuple[Value, ...]

    @cached_property
    def distinct(self) -> tuple[Value, ...]:
        """The values, each once."""
        return tuple({value.label: value for value in self.values}.values())

    @property
    def repeats(self) -> bool:
        """Whether a value is there again, so that the key alone does not tell its values apart."""
        return len(self.distinct) < len(self.values)

    @property
    def numbers(self) -> dict[str, float] | None:
        """By their labels, what the values are worth on an axis; None where they are words."""
        found: dict[str, float] = {}
        units = set()
        for value in self.values:
            if isinstance(value.worth, str):
                return None
            found[value.label], unit = value.worth
            units.add(unit)
        return found if len(units) == 1 else None

    @cached_property
    def display_names(self) -> dict[str, str]:
        """The name of each value in pictures, by its label; a table of a scheme has the scheme's.

        Where names are not enough to tell tables apart, their presets are added, then the
        parameters in which those of one name and preset differ.
        """
        labels = [value.label for value in self.distinct]
        tables = [value.data if isinstance(value.data, dict) else {} for value in self.distinct]
        by_name = [
            str(table.get("name", label)) for table, label in zip(tables, labels, strict=True)
        ]
        by_preset = [
            f"{name} ({table['preset']})" if "preset" in table else name
            for table, name in zip(tables, by_name, strict=True)
        ]
        params = [table.get("params", {}) for table in tables]
        by_params = [
            ", ".join(
                [
                    name,
                    *_differing(
                        own,
                        [
                            other
                            for other, its in zip(params, by_preset, strict=True)
                            if its == name
                        ],
                    ),
                ]
            )
            for own, name in zip(params, by_preset, strict=True)
        ]
        choices = (by_name, by_preset, by_params) if self.key == "scheme" else ()
        names = next((names for names in choices if len(set(names)) == len(names)), labels)
        return dict(zip(labels, names, strict=True))

    @property
    def column(self) -> list[object]:
        """The values as a column of a table has them: all numbers, all flags, or all text."""
        data = [value.data for value in self.values]
        if all(isinstance(one, bool) for one in data):
            return data
        if all(isinstance(one, int | float) and not isinstance(one, bool) for one in data):
            whole = all(isinstance(one, int) for one in data)
            return data if whole else [float(value.label) for value in self.values]
        return [value.label for value in self.values]


def _differing(params: Mapping[str, object], every: Sequence[Mapping[str, object]]) -> list[str]:
    """Those of ``params`` that are not the same in ``every`` table: ``eta 0.9``."""
    return [
        f"{name} {value}"
        for name, value in params.items()
        if any(other.get(name) != value for other in every)
    ]


Combination = tuple[Value, ...]
"""A value of each axis, in their order."""


def axis(key: str, texts: Sequence[str]) -> Axis:
    """The axis of a key and its values, which are written as for ``--set``."""
    values = tuple(Value(key, one) for text in texts for one in expand(key, text))
    if not values:
        raise ConfigError("no value to vary it over", key=key)
    for value in values:
        if not value.text:
            raise ConfigError("one of the values is empty", key=key, hint='"" is an empty text')
    return Axis(key, values)


def check_values(axis: Axis) -> None:
    """Raises where a key that varies on its own has a value twice."""
    _check_spelling(axis)
    seen: set[str] = set()
    for value in axis.values:
        if value.label in seen:
            raise ConfigError(
                f"{value.label} is there twice",
                key=axis.key,
                hint="leave one out; only a key that changes together with another one (--zip) may "
                "have a value again",
            )
        seen.add(value.label)


def _check_spelling(axis: Axis) -> None:
    """Raises where a value is written in two ways, which would be two places in a picture."""
    known: dict[tuple[float, str] | str, str] = {}
    for value in axis.values:
        other = known.setdefault(value.worth, value.label)
        if other != value.label:
            raise ConfigError(f"{other} and {value.label} are the same value", key=axis.key)


def parse_axis(text: str) -> Axis:
    """The axis of ``KEY=V1,V2,...``; commas in brackets and quotes are parts of a value."""
    key, equals, values = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(
            f"--over {text}: needs a key and its values",
            hint="such as --over scheme.name=dcqcn,hpcc",
        )
    texts = [one.strip() for one in _split(values)]
    for one in texts:
        check_has_count(key.strip(), one)
    return axis(key.strip(), texts)


def make_axes(over: Mapping[str, Sequence[object]]) -> list[Axis]:
    """The axes of keys and their values as plain data."""
    if not isinstance(over, Mapping):
        raise TypeError(f"over: must be a dictionary of keys and their values, not {over!r}")
    axes = []
    for key, values in over.items():
        if not isinstance(key, str):
            raise ConfigError(f"a key must be a string, got {key!r}", key="over")
        # Arrays of NumPy and columns of pandas, and those of polars.
        as_list = getattr(values, "tolist", None) or getattr(values, "to_list", None)
        if as_list is not None:
            values = as_list()
        if isinstance(values, str | Mapping) or not isinstance(values, Sequence):
            raise ConfigError(f"needs a list of values, got {values!r}", key=key)
        axes.append(axis(key, [text for value in values for text in _texts(key, value)]))
    return axes


def _texts(key: str, value: object) -> list[str]:
    """What ``--set`` takes for a value, or for all values of a range."""
    if isinstance(value, str) and len(found := expand(key, value)) > 1:
        return found
    return [setting(value, key)]


def check_keys(keys: Sequence[str]) -> None:
    """Raises where a key may not vary, is varied twice, or another one is written over it."""
    paths = [_path(key) for key in keys]
    for at, (key, path) in enumerate(zip(keys, paths, strict=True)):
        if path == ["run", "seed"]:
            raise ConfigError(
                "seeds are not values to vary", key=key, hint="--seeds, seeds=, is theirs"
            )
        for later, whole in zip(keys[at + 1 :], paths[at + 1 :], strict=True):
            if path == whole:
                raise ConfigError("is varied twice", key=key, hint="give all its values at once")
            if path[: len(whole)] == whole:
                raise ConfigError(
                    f"is varied, and so is {later}, which is written over it",
                    key=key,
                    hint="vary one of the two",
                )


def _path(key: str) -> list[str]:
    """The parts of a key, indices of lists without leading zeros."""
    parts = key.split(".")
    return [(part.lstrip("0") or "0") if part.isdecimal() else part for part in parts]


def check_pairs(axes: Sequence[Axis], zipped: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """The positions of the axes that change together, group by group.

    ``zipped`` has the keys of each group. Raises where a key is not varied or in two groups, where
    the keys of a group have different numbers of values, and where a value of a single key or the
    values of a group are there twice.
    """
    keys = [one.key for one in axes]
    seen: set[str] = set()
    groups = []
    for group in zipped:
        for key in group:
            if not key:
                raise ConfigError("zip has an empty key", hint=_SUCH_AS)
            if key not in keys:
                hint = f"give its values: --over {key}=V1,V2,..., in Python in `over`"
                raise ConfigError("is to be zipped, and is not varied", key=key, hint=hint)
            if key in seen:
                raise ConfigError("is zipped twice", key=key)
            seen.add(key)
        if len(group) < 2:
            raise ConfigError(
                f"zip needs two keys or more, got {', '.join(group) or 'none'}",
                hint=_SUCH_AS,
            )
        places = tuple(keys.index(key) for key in group)
        counts = {axes[at].key: len(axes[at].values) for at in places}
        if len(set(counts.values())) > 1:
            told = ", ".join(f"{key} has {count}" for key, count in counts.items())
            raise ConfigError(f"zipped keys need equally many values: {told}")
        _check_group([axes[at] for at in places])
        groups.append(places)
    for one in axes:
        if one.key not in seen:
            check_values(one)
    return groups


def _check_group(axes: Sequence[Axis]) -> None:
    """Raises where keys that change together have the same values twice."""
    for one in axes:
        _check_spelling(one)
    seen: set[tuple[str, ...]] = set()
    for values in zip(*(one.values for one in axes), strict=True):
        labels = tuple(value.label for value in values)
        if labels in seen:
            raise ConfigError(f"{name(axes, values)} is there twice", hint="leave one out")
        seen.add(labels)


def combinations(axes: Sequence[Axis], zipped: Sequence[tuple[int, ...]] = ()) -> list[Combination]:
    """All of them; the last axis changes first. Axes at the positions of a group change together.

    A group stands where its first axis does.
    """
    group_of = {at: group for group in zipped for at in group}
    groups = [group_of.get(at, (at,)) for at in range(len(axes))]
    groups = [group for at, group in enumerate(groups) if at == min(group)]
    found = []
    for chosen in product(*(range(len(axes[group[0]].values)) for group in groups)):
        values: dict[int, Value] = {}
        for group, index in zip(groups, chosen, strict=True):
            values |= {at: axes[at].values[index] for at in group}
        found.append(tuple(values[at] for at in range(len(axes))))
    return found


def name(axes: Sequence[Axis], combination: Combination) -> str:
    """What people call a combination: ``scheme.name=hpcc,traffic.0.load=0.5``."""
    pairs = zip(axes, combination, strict=True)
    return ",".join(f"{axis.key}={value.label}" for axis, value in pairs)


def directory(axes: Sequence[Axis], combination: Combination) -> str:
    """The name of a directory for a combination, which no other has; empty without axes."""
    return directory_of([axis.key for axis in axes], combination)


def directory_of(keys: Sequence[str], combination: Combination) -> str:
    """The name of a directory for a combination of values of ``keys``; empty without keys."""
    if not keys:
        return ""
    pairs = zip(short_keys(keys), combination, strict=True)
    # What is no letter is refused with the scenario.
    return bounded(",".join(f"{escaped(key, '')}={escaped(value.label)}" for key, value in pairs))


def _is_alone(end: list[str], parts: Sequence[list[str]]) -> bool:
    return sum(other[-len(end) :] == end for other in parts) == 1


_VAGUE = frozenset(("name", "kind", "enabled", "size", "rate", "delay", "start", "end"))


def short_keys(keys: Sequence[str]) -> list[str]:
    """The shortest ends of the keys that tell them apart: ``kmin`` for ``ecn.kmin``.

    Words that say little alone, such as ``name``, keep the word before them.
    """
    parts = [key.split(".") for key in keys]
    found = []
    for key in parts:
        ends = (key[-count:] for count in range(1, len(key) + 1))
        alone = (end for end in ends if end[0] not in _VAGUE and _is_alone(end, parts))
        found.append(".".join(next(alone, key)))
    return found


def _split(text: str) -> list[str]:
    """``text`` at the commas that are in no brackets and no quotes."""
    parts, begin, depth, quoted = [], 0, 0, ""
    for at, letter in enumerate(text):
        if quoted:
            # A quote after a backslash does not end a text, unless that is in single quotes.
            escaped = quoted == '"' and (at - len(text[:at].rstrip("\\"))) % 2
            if letter == quoted and not escaped:
                quoted = ""
        elif letter in "\"'" and (depth or not text[begin:at].strip()):
            quoted = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == "," and depth <= 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]]
