"""Scenarios: what is to be run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rocelab import _examples, _memory, _rocelab
from rocelab._plain import Plain, plain, setting
from rocelab.errors import ConfigError
from rocelab.io.read import read_text

if TYPE_CHECKING:
    from rocelab import keys
    from rocelab.plan import Plan
    from rocelab.table import Table

Data = Mapping[str, object]
"""A table of a scenario file."""

MAX_TAGS = 256
"""With more tags than these, a run has no statistics by tag: ``MAX_TAGS`` of the crate results."""
_MAX_FILE_BYTES = 1 << 30
"""Bytes of a file; larger ones are no scenario."""

Given = str | dict[str, Plain]
"""What a scenario is read from: the text of a file, or plain data with its tables."""

Texts = Mapping[Path, str]
"""What the files say that a scenario names, by their paths."""

Settings = tuple[tuple[str, str], ...]
"""Keys and the values they are set to, as TOML writes them."""


class Scenario:
    """A scenario whose keys make sense; it never changes.

    Built in code, it takes the top-level keys of a scenario file, with dictionaries for tables and
    lists for arrays: ``Scenario(topology={...}, traffic=[{...}], scheme={"name": "hpcc"})``.
    :mod:`rocelab.keys` has the keys of each table, which editors complete.
    Raises :class:`ConfigError` where one makes no sense. What shows only when its network is built
    :meth:`validate` finds, as do :meth:`plan` and what runs it.
    """

    __slots__ = ("_files", "_generated", "_origin", "_overrides", "_source", "_text", "_whole")

    _source: Given | Callable[[], str]
    """What it was read from, or makes that: it may be long."""
    _origin: Path | None
    _overrides: Settings
    _whole: _rocelab.Scenario | None
    """With all its messages; None where :func:`compact` left them out."""
    _text: str | None
    """Its complete text, where its messages are left out."""
    _generated: bool
    """Whether a program made its text, so that errors should not name its lines."""
    _files: Texts
    """The files that it names, as they were: they may change, or be on another machine."""

    def __init__(
        self,
        *,
        topology: keys.Topology | Data,
        traffic: Sequence[keys.Traffic | Data] = (),
        scheme: keys.Scheme | Data | str | None = None,
        probe: Sequence[keys.Probe | Data] = (),
        run: keys.Run | Data | None = None,
        name: str | None = None,
        description: str | None = None,
        classes: keys.Classes | Data | None = None,
        ecn: keys.Ecn | Data | None = None,
        failure: Sequence[keys.Failure | Data] | None = None,
        host: keys.Host | Data | None = None,
        pfc: keys.Pfc | Data | None = None,
        quirks: keys.Quirks | Data | None = None,
        routing: keys.Routing | Data | None = None,
        switch: keys.Switch | Data | None = None,
        trace: keys.Trace | Data | None = None,
        wire: keys.Wire | Data | None = None,
        **tables: object,
    ) -> None:
        data: dict[str, object] = {
            "name": name,
            "description": description,
            "topology": topology,
            "traffic": traffic,
            "scheme": scheme,
            "probe": probe,
            "run": run,
            "classes": classes,
            "ecn": ecn,
            "failure": failure,
            "host": host,
            "pfc": pfc,
            "quirks": quirks,
            "routing": routing,
            "switch": switch,
            "trace": trace,
            "wire": wire,
            **tables,
        }
        given = {key: plain(value, key) for key, value in data.items() if value is not None}
        self._fill(given, None, ())

    @classmethod
    def _of(
        cls,
        given: Given,
        origin: Path | None,
        overrides: Settings,
        generated: bool = False,
        files: Texts | None = None,
    ) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._fill(given, origin, overrides, generated, files)
        return scenario

    @classmethod
    def _made(cls, checked: _rocelab.Scenario, text: Callable[[], str]) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._whole = checked
        scenario._text = None
        scenario._source = text
        scenario._origin = None
        scenario._overrides = ()
        scenario._generated = True
        scenario._files = {}
        return scenario

    def _fill(
        self,
        given: Given,
        origin: Path | None,
        overrides: Settings,
        generated: bool = False,
        files: Texts | None = None,
    ) -> None:
        with reject_undecodable_text(origin):
            known = files or {}
            self._whole, read = _rocelab.Scenario.parse(
                given, origin, list(overrides), generated, known
            )
        self._files = {**known, **read}
        self._text = None
        self._source = given
        self._origin = origin
        self._overrides = overrides
        self._generated = generated

    @classmethod
    def from_toml(
        cls,
        text: str,
        *,
        origin: str | os.PathLike[str] | None = None,
        set: Mapping[str, object] | None = None,  # noqa: A002 - as `--set`
    ) -> Scenario:
        """The scenario that ``text`` describes.

        Files that it names are looked for beside ``origin``, the file it came from. ``set`` gives
        other values to keys: ``{"run.seed": 2}``.
        """
        if not isinstance(text, str):
            raise TypeError(f"from_toml takes the text of a scenario, not {type(text).__name__}")
        return cls._of(text, None if origin is None else Path(origin), _overrides(set))

    def with_settings(self, **changes: object) -> Scenario:
        """This scenario with other values for some keys: ``with_settings(**{"run.seed": 2})``.

        Two underscores stand for a dot: ``with_settings(run__seed=2)``.
        """
        named = {key.replace("__", "."): value for key, value in changes.items()}
        return apply_settings(self, _overrides(named))

    if not TYPE_CHECKING:  # A type checker knows the names that there are.

        def __getattr__(self, name: str) -> NoReturn:
            hint = ": it is called `with_settings` now" if name == "with_" else ""
            raise AttributeError(f"'Scenario' object has no attribute {name!r}{hint}")

    def to_toml(self) -> str:
        """The whole scenario as TOML: everything that has a default is filled in."""
        return self._checked.to_toml() if self._text is None else self._text

    def to_dict(self) -> dict[str, Any]:
        """The whole scenario as plain data: everything that has a default is filled in."""
        return _rocelab.scenario_data(self.to_toml())

    def validate(self) -> None:
        """Checks that its scheme can run on its network, which it builds.

        A scenario that passes can be run. Raises :class:`ConfigError`, as the run would: such as
        where paths have more switches than the scheme's packets have room for; or where its
        network clearly exceeds the memory that this process may take.
        """
        _memory.check(self, "check")
        self._checked.check()

    def plan(self) -> Plan:
        """What it asks of its network, without running it: messages, and the load of each port."""
        from rocelab.plan import Plan

        _memory.check(self, "plan")
        return Plan(self, self._checked.plan())

    def paths(self) -> Table:
        """The ports that messages pass: ``flow_id``, ``node``, ``port``, from the sender on.

        They are those of :meth:`plan`: as long as no link fails. Where packets are spread over
        paths, or the scheme chooses ways itself, others may be taken.
        """
        from rocelab.table import Table

        _memory.check(self, "plan")
        found = self._checked.paths()
        return Table(lambda: found)

    @property
    def name(self) -> str:
        """Its name; that of its file where it gives none, else ``scenario``."""
        return self._checked.name

    @property
    def tags(self) -> list[str]:
        """The tags of its messages, in the order of their first use."""
        return self._checked.tags

    @property
    def _checked(self) -> _rocelab.Scenario:
        """It with all its messages."""
        if self._whole is not None:
            return self._whole
        # The complete text names no files.
        return _rocelab.Scenario.parse(self.to_toml(), self._origin, [], True, {})[0]

    @property
    def _groups(self) -> list[str]:
        """Names of groups of its messages of which a run has statistics.

        They are their tags, up to :data:`MAX_TAGS`, and their schemes where it has two.
        """
        tags, schemes = self.tags, self._checked.schemes
        return [*(tags if len(tags) <= MAX_TAGS else []), *(schemes if len(schemes) > 1 else [])]

    @property
    def _written_in(self) -> tuple[str, Settings] | None:
        """Its file, or its name if it is an example, and what was set; None without a file."""
        if self._origin is None or self._generated:
            return None
        return _examples.name_of(self._origin) or str(self._origin), self._overrides

    def _given(self) -> Given:
        """What it was read from, without its overrides."""
        return self._source() if callable(self._source) else self._source

    def __reduce__(self) -> tuple[object, ...]:
        # What was given, without defaults: with these, `with_settings` would change less.
        given = (self._given(), self._origin, self._overrides, self._generated, self._files)
        return Scenario._of, given

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def _repr_html_(self) -> str:
        from rocelab._notebook import card

        data = self.to_dict()
        kinds = [f"{one['kind']} ({one.get('tag', '')})" for one in data.get("traffic", [])]
        probes = [one["name"] for one in data.get("probe", [])]
        scheme = data["scheme"]
        rows = [
            ("topology", data["topology"]["kind"]),
            ("scheme", f"{scheme['name']} ({scheme['preset']})"),
            ("traffic", ", ".join(kinds) or "none"),
            ("probes", ", ".join(probes) or "none"),
        ]
        return card(f"Scenario {self.name}", rows, details=("all keys", self.to_toml()))

    def __repr__(self) -> str:
        return f"<rocelab.Scenario {self.name!r}>"


def load(
    path: str | os.PathLike[str],
    *,
    set: Mapping[str, object] | None = None,  # noqa: A002 - as `--set`
) -> Scenario:
    """The scenario in the file ``path``, with other values for the keys in ``set``.

    For example ``rocelab.load("incast.toml", set={"scheme.name": "hpcc", "run.seed": 2})``.
    """
    return _load(Path(path), _overrides(set))


def example(
    name: str,
    *,
    set: Mapping[str, object] | None = None,  # noqa: A002 - as `--set`
) -> Scenario:
    """The example scenario ``name``, with other values for the keys in ``set``.

    ``rocelab list examples`` has all names. For example
    ``rocelab.example("incast", set={"scheme": "hpcc"})``.
    Raises :class:`ConfigError` where there is none of this name.
    """
    found = _examples.find(name)
    if found is None or found.is_folder:
        names = ", ".join(_examples.scenario_names())
        raise ConfigError(f"no example scenario {name!r}", hint=f"there are: {names}")
    return load(found.path, set=set)


def load_with_settings(path: Path, settings: Sequence[tuple[str, str]]) -> Scenario:
    """The scenario in the file ``path`` with keys set as on the command line.

    There a value is written as in TOML, or as a bare word.
    """
    return _load(path, tuple(settings))


def apply_settings(scenario: Scenario, settings: Settings, files: Texts | None = None) -> Scenario:
    """``scenario`` with further keys set as on the command line.

    ``files`` are those that were read before; default: those of ``scenario``.
    """
    return Scenario._of(
        scenario._given(),
        scenario._origin,
        scenario._overrides + settings,
        scenario._generated,
        scenario._files if files is None else files,
    )


def compact(scenario: Scenario) -> Scenario:
    """``scenario`` without its messages, of which there may be hundreds of thousands.

    What needs them draws them again. For those who hold many scenarios, of which few run at a time.
    """
    light = Scenario.__new__(Scenario)
    light._whole = None
    light._text = scenario.to_toml()
    light._source = scenario._source
    light._origin = scenario._origin
    light._overrides = scenario._overrides
    light._generated = scenario._generated
    light._files = scenario._files
    return light


def parse_with_settings(text: str, settings: Sequence[tuple[str, str]]) -> Scenario:
    """The scenario of ``text``, made by a program, with keys set as on the command line.

    Errors do not name lines of ``text``, which the user has not seen.
    """
    return Scenario._of(text, None, tuple(settings), generated=True)


@contextmanager
def reject_undecodable_text(origin: Path | None) -> Iterator[None]:
    """Refuses text that is none, such as an argument of the command line with odd bytes."""
    try:
        yield
    except UnicodeEncodeError as error:
        odd = error.object[error.start : error.end]
        raise ConfigError(
            f"{odd!r} is no letter", file=None if origin is None else str(origin)
        ) from None


def scenario_from_experiment(
    experiment: _rocelab.HpccExperiment, settings: Sequence[tuple[str, str]]
) -> Scenario:
    """The scenario of ``experiment``, with keys set as on the command line.

    Errors do not name lines of its text, which the user has not seen.
    """
    given = list(settings)
    return Scenario._made(experiment.scenario(given), lambda: experiment.to_toml(given))


def read_scenario(path: Path, *, newline: str | None = None, if_missing: str | None = None) -> str:
    """The text of a scenario file. ``newline`` is that of :func:`open`.

    ``if_missing`` is the hint if there is no such file.
    """
    try:
        return read_text(path, _MAX_FILE_BYTES, newline=newline)
    except FileNotFoundError:
        raise ConfigError("no such file", file=str(path), hint=if_missing) from None
    except IsADirectoryError:
        whole = path / "scenario.toml"
        hint = f"the scenario of that result is {whole}" if whole.is_file() else None
        raise ConfigError("is a directory", file=str(path), hint=hint) from None
    except UnicodeDecodeError as error:
        why = f"not a text file in UTF-8 (byte {error.start})"
        raise ConfigError(why, file=str(path), hint="save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(error.strerror or str(error), file=str(path)) from None


def _load(path: Path, overrides: Settings) -> Scenario:
    text = read_scenario(path, if_missing=_examples.hint(path))
    return Scenario._of(text, path, overrides)


def _overrides(changes: Mapping[str, object] | None) -> Settings:
    """Keys and values as the scenario reader takes them: values as TOML writes them."""
    if changes is None:
        return ()
    if not isinstance(changes, Mapping):
        raise TypeError(f"set: must be a dictionary of keys and values, not {changes!r}")
    for key in changes:
        if not isinstance(key, str):
            raise ConfigError(
                f"a key must be a string, got {key!r}", key="set", hint="such as 'run.seed'"
            )
    return tuple((key, setting(change, key)) for key, change in changes.items())
