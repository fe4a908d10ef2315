"""Experiments of the HPCC ns-3 simulator: its files in, its files out."""

from __future__ import annotations

import codecs
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

from rocelab import _memory, _rocelab
from rocelab.errors import ConfigError, Interrupted, RecordingError
from rocelab.io.files import (
    check_output_file,
    is_special_file,
    nearest_directory,
    os_errors_as_result_error,
)
from rocelab.io.locks import locked, remove_leftover_files
from rocelab.io.read import leads_out
from rocelab.result import Result
from rocelab.scenario import Scenario, reject_undecodable_text, scenario_from_experiment
from rocelab.signals import deferred_signals
from rocelab.simulate import Progress, check_threads, run_experiment

_KEYS = {
    "run.stop": "SIMULATOR_STOP_TIME",
    "run.seed": "RANDOM_SEED",
    "topology": "TOPOLOGY_FILE",
    "traffic": "FLOW_FILE",
    "failure": "LINK_DOWN",
    "wire.payload": "PACKET_PAYLOAD_SIZE",
    "wire.error_rate": "ERROR_RATE_PER_LINK",
    "switch.buffer": "BUFFER_SIZE",
    "routing.balance": "LB_MODE",
    "routing.conweave.inactive": "CONWEAVE_TX_EXPIRY_TIME",
    "routing.conweave.reply_extra": "CONWEAVE_REPLY_TIMEOUT_EXTRA",
    "routing.conweave.path_busy": "CONWEAVE_PATH_PAUSE_TIME",
    "routing.conweave.resume_extra": "CONWEAVE_EXTRA_VOQ_FLUSH_TIME",
    "routing.conweave.resume_default": "CONWEAVE_DEFAULT_VOQ_WAITING_TIME",
    "ecn.by_rate.kmin": "KMIN_MAP",
    "ecn.by_rate.kmax": "KMAX_MAP",
    "ecn.by_rate.pmax": "PMAX_MAP",
    "ecn.kmin": "KMIN_MAP",
    "ecn.kmax": "KMAX_MAP",
    "ecn.pmax": "PMAX_MAP",
    "scheme.params.rate_ai": "RATE_AI",
    "scheme.params.rate_hai": "RATE_HAI",
    "scheme.params.min_rate": "MIN_RATE",
    "scheme.params.gain": "EWMA_GAIN",
    "scheme.params.alpha_timer": "ALPHA_RESUME_INTERVAL",
    "scheme.params.decrease_interval": "RATE_DECREASE_INTERVAL",
    "scheme.params.increase_timer": "RP_TIMER",
    "scheme.params.recovery_steps": "FAST_RECOVERY_TIMES",
    "scheme.params.eta": "U_TARGET",
    "scheme.params.max_stage": "MI_THRESH",
    "scheme.params.log_base": "PINT_LOG_BASE",
    "scheme.params.probability": "PINT_PROB",
    "scheme.params.int_multi": "INT_MULTI",
}
"""Keys of a scenario, or their beginnings, and those of the configuration that they come from.

Indices of lists are left out.
"""

_LINK = re.compile(r"topology\.links\.([0-9]+)\.([a-z_]+)")
_FLOW = re.compile(r"traffic\.0\.flows\.([0-9]+)(?:\.([a-z_]+))?")

Order = Literal["fast", "ns3"]
"""In which order the events of one nanosecond come.

``fast``: rocelab's own, on any number of threads. ``ns3``: the simulator's, on one thread.
"""

_INPUTS = ("TOPOLOGY_FILE", "FLOW_FILE", "TRACE_FILE")


def _settings_in(config: Path) -> dict[str, tuple[int, str]]:
    """The line of each word of a configuration and the word after it; the last one counts.

    Empty where it is no file: what comes from a pipe can be read once.
    """
    if not config.is_file():
        return {}
    lines = enumerate(config.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n"), 1)
    words = [(line, os.fsdecode(word)) for line, text in lines for word in text.split()]
    return {word: (line, following) for (line, word), (_, following) in itertools.pairwise(words)}


def directory_of_names(config: Path) -> Path:
    """The directory that names in a configuration are relative to, by where its topology is.

    It is that of the configuration or one above it: that simulator runs above ``mix``, where its
    configurations are. If the topology is in none of them, it is that of the configuration.
    """
    _, topology = _settings_in(config).get("TOPOLOGY_FILE", (0, ""))
    if ".." in Path(topology).parts:
        return config.parent
    candidates = (config.parent, *config.parent.resolve().parents)
    try:
        return next(
            (directory for directory in candidates if (directory / topology).is_file()),
            config.parent,
        )
    except OSError:  # The name is too long, which is an error of whoever reads the file.
        return config.parent


class Experiment:
    """A configuration of the HPCC simulator and the files that it names, read and checked.

    Names in the configuration are relative to ``directory``; there that is the working directory.
    """

    def __init__(self, config: str | PathLike[str], directory: str | PathLike[str] = "") -> None:
        self.config = Path(config)
        self.directory = Path(directory)
        self._read = _rocelab.HpccExperiment(self.config, self.directory)
        # Errors name lines of the file as it was read, also where it is edited during a run.
        self._settings = _settings_in(self.config)

    @property
    def warnings(self) -> list[str]:
        """What is odd about the files, and what is served in another way than there."""
        return self.warnings_with(())

    def warnings_with(
        self, settings: Sequence[tuple[str, str]], order: Order = "fast"
    ) -> list[str]:
        """The warnings that hold in a run with these ``settings`` and this ``order``."""
        with reject_undecodable_text(None):
            return self._read.warnings(list(settings), order == "ns3")

    def outputs(self, into: str | PathLike[str] | None = None) -> dict[str, Path]:
        """Where :meth:`run` writes, by the key of the configuration that names the file."""
        if into is None:
            return {key: self.directory / path for key, path in self._read.outputs}
        return {key: Path(into) / path.name for key, path in self._read.outputs}

    def _line(self, key: str) -> int | None:
        """The line that a key of the configuration is in; none where its default counts."""
        line, _ = self._settings.get(key, (None, ""))
        return line

    def _inputs(self) -> dict[str, str]:
        """What a run reads, and what each is."""
        read = {
            self.directory / self._settings[key][1]: f"{key}'s"
            for key in _INPUTS
            if key in self._settings
        }
        read[self.config] = "the configuration itself"
        return {os.path.realpath(path): what for path, what in read.items()}

    def _check_places(self) -> None:
        """Raises where the configuration names a file outside of the directory of its names."""
        for key, path in self._read.outputs:
            if path.is_absolute() or ".." in path.parts:
                where = f"is {path}"
            elif leads_out(self.directory / path, self.directory):
                where = f"is {path}, which leads to {os.path.realpath(self.directory / path)}"
            else:
                continue
            here = "the working directory" if self.directory == Path() else str(self.directory)
            raise ConfigError(
                f"{key} {where}: outside of {here}",
                file=str(self.config),
                line=self._line(key),
                hint="write elsewhere: --out DIR, in Python into; or, where you trust the file, "
                "--trust-paths, in Python trust_paths=True",
            )

    def _check_outputs(self, into: str | PathLike[str] | None) -> None:
        """Raises where a run's files could not all be written."""
        outputs = self.outputs(into)
        inputs = self._inputs() if outputs else {}
        keys: dict[str, str] = {}
        for key, path in outputs.items():
            with os_errors_as_result_error(path):
                if is_special_file(path):
                    continue
            place = os.path.realpath(path)
            if place in inputs:
                raise ConfigError(
                    f"{key} would replace {path}, which is {inputs[place]}",
                    file=str(self.config),
                    line=self._line(key),
                    hint="give it another name, or write elsewhere: --out, in Python into",
                )
            other = keys.setdefault(place, key)
            if other != key:
                hint = "give them other names"
                if into is not None:
                    hint += "; or leave out --out, in Python into, if their directories differ"
                raise ConfigError(
                    f"{other} and {key} would both be {path}",
                    file=str(self.config),
                    line=self._line(key) or self._line(other),
                    hint=hint,
                )
        for path in outputs.values():
            check_output_file(path)

    @contextmanager
    def _locked(self, into: str | PathLike[str] | None) -> Iterator[None]:
        """No other process writes the files of a run meanwhile; what a killed one left goes."""
        with ExitStack() as stack:
            # All processes take them in the same order, so that none waits for another for ever.
            for path in sorted(os.path.realpath(path) for path in self._outputs(into).values()):
                target = Path(path)
                with os_errors_as_result_error(target):
                    if is_special_file(target):
                        continue
                    target.parent.mkdir(parents=True, exist_ok=True)
                    if stack.enter_context(locked(target)):
                        remove_leftover_files(target)
            yield

    def _outputs(self, into: str | PathLike[str] | None) -> dict[str, Path]:
        """As :meth:`outputs`; none where the configuration is a pipe, which can be read once."""
        return self.outputs(into) if self.config.is_file() else {}

    def _scratch(self, into: str | PathLike[str] | None) -> Path:
        """The directory for what is recorded while it runs: near the files that it goes to."""
        if into is not None:
            return nearest_directory(Path(into))
        files = (path for path in self.outputs().values() if not is_special_file(path))
        return nearest_directory(next(files, self.directory))

    def scenario(self, settings: Sequence[tuple[str, str]] = ()) -> Scenario:
        """The scenario that does the same; ``settings`` change keys of it.

        Nodes, flows and what is traced are those of the files: the keys of ``topology``,
        ``traffic`` and ``trace`` stay.
        """
        if not settings:
            with self._errors_name_files(()):
                return scenario_from_experiment(self._read, ())
        try:
            with reject_undecodable_text(None):
                return scenario_from_experiment(self._read, settings)
        except ConfigError:
            # What is wrong without the settings, too, is said of the files.
            self.scenario()
            raise

    def _check_order(
        self, order: str, settings: Sequence[tuple[str, str]], threads: int | None
    ) -> None:
        """Raises where there is no such order of events, or where it cannot have the run."""
        if order not in get_args(Order):
            raise ConfigError(f'must be "fast" or "ns3", not "{order}"', key="order")
        if order == "fast":
            return
        try:
            with reject_undecodable_text(None):
                self._read.check_ns3_order(list(settings), threads)
        except ConfigError as error:
            if error.key == "threads" or error.key in {key for key, _ in settings}:
                raise
            line = self._line(error.key or "")
            raise ConfigError(
                error.message, file=str(self.config), key=error.key, line=line, hint=error.hint
            ) from None

    @contextmanager
    def _errors_name_files(self, settings: Sequence[tuple[str, str]]) -> Iterator[None]:
        """An error of the scenario names the file and line it comes from.

        One that ``settings`` cause stays as it is.
        """
        try:
            yield
        except ConfigError as error:
            # No key of the configuration turns quirks off: settings do.
            if error.key in {key for key, _ in settings} or (error.key or "").startswith("quirks."):
                raise
            for pattern, file_key, line_of in (
                (_LINK, "TOPOLOGY_FILE", self._read.link_line),
                (_FLOW, "FLOW_FILE", self._read.flow_line),
            ):
                found = pattern.fullmatch(error.key or "")
                if found and file_key in self._settings:
                    raise ConfigError(
                        error.message,
                        file=str(self.directory / self._settings[file_key][1]),
                        line=line_of(int(found[1])),
                        key=found[2],
                        hint=error.hint,
                    ) from None
            key, line = self._place(error.key or "")
            raise ConfigError(
                error.message, file=str(self.config), key=key, line=line, hint=error.hint
            ) from None

    def _place(self, key: str) -> tuple[str, int | None]:
        """What a key of the scenario is called in the configuration, and the line that it is in."""
        key = ".".join(step for step in key.split(".") if not step.isdigit())
        name = next((_KEYS[known] for known in _KEYS if f"{key}.".startswith(f"{known}.")), None)
        if name is None:
            return key, None
        if name == "RATE_AI" and self._settings.get("CC_MODE", (0, ""))[1] == "8":
            name = "DCTCP_RATE_AI"
        return name, self._line(name)

    def run(
        self,
        *,
        settings: Sequence[tuple[str, str]] = (),
        threads: int | None = None,
        progress: bool | Callable[[Progress], None] = False,
        into: str | PathLike[str] | None = None,
        trust_paths: bool = False,
        order: Order = "fast",
    ) -> tuple[Result, list[Path]]:
        """Runs it and writes the files that it asks for.

        ``order`` is the order of events of one nanosecond. With ``"ns3"`` it is the simulator's,
        and the files are equal to those that the simulator writes. Such a run takes one thread, and
        of the keys only ``run.seed`` can be set.

        They go where the configuration says, or into the directory ``into`` under the same names.
        Without ``into`` a configuration that names absolute paths, paths with ``..`` or links to
        places outside of its directory is refused, unless ``trust_paths`` is set.
        Returns the result and where the files are. Raises :class:`Interrupted` on Ctrl-C, after
        the files of the partial result have been written; its ``files`` are empty if Ctrl-C came
        while another process wrote them. As :func:`rocelab.run` it raises a plain
        KeyboardInterrupt where there is no result yet. Raises :class:`RecordingError`, after the
        files have been written, where what is recorded finds no room on disk.
        """
        scenario = self.scenario(settings)
        if into is None and not trust_paths:
            self._check_places()
        self._check_outputs(into)
        threads = check_threads(threads)
        self._check_order(order, settings, threads)
        with self._errors_name_files(settings):
            _memory.check(scenario, "run")
            raw = run_experiment(
                scenario,
                self._read,
                ns3_order=order == "ns3",
                threads=threads,
                progress=progress,
                scratch=self._scratch(into),
            )
        result = Result._from_run(raw, scenario)
        written: list[Path] = []
        interrupted = raw.interrupted
        try:
            with self._locked(into), deferred_signals():
                written = self._read.write(raw, self.directory, into)
        except KeyboardInterrupt:
            # Either it waited until they were written, or another process held the files and
            # nothing was written.
            interrupted = True
        if interrupted:
            raise Interrupted(result, written)
        if raw.failure is not None:
            raise RecordingError(raw.failure, result, written)
        return result, written
