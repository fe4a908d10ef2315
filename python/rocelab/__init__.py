"""A laboratory for congestion control in lossless RDMA (RoCEv2) networks.

>>> import rocelab
>>> scenario = rocelab.Scenario(
...     topology={"kind": "star", "hosts": 3, "host_rate": "100Gbps", "host_delay": "1us"},
...     traffic=[{"kind": "incast", "senders": 2, "receiver": "h2", "size": "100KB"}],
...     scheme={"name": "dcqcn"},
... )
>>> result = rocelab.run(scenario)
>>> result.summary.flows_done
2

Quantities are written with their unit. Names are those of scenario files, which
``rocelab schema`` describes.
"""

import importlib as _importlib
import sys as _sys
import typing as _typing

if _typing.TYPE_CHECKING:
    from rocelab import plot, report, view
    from rocelab._rocelab import __version__
    from rocelab.catalogue import schema, schemes, topologies, workloads
    from rocelab.errors import (
        ConfigError,
        CrowdedPictureWarning,
        Interrupted,
        MemoryWarning,
        MissingGlyphWarning,
        MissingPackageError,
        ModuleChoiceError,
        RecordingError,
        ResultError,
        RocelabError,
        SimulationError,
        UnverifiedResultWarning,
    )
    from rocelab.io.open import open_result as open  # noqa: A004 - read as `rocelab.open(dir)`
    from rocelab.plan import Plan
    from rocelab.prototypes import Limits, Prototype, prototype
    from rocelab.result import Result
    from rocelab.scenario import Scenario, example, load
    from rocelab.simulate import Progress, run
    from rocelab.sweeps import Sweep, open_sweep, sweep
    from rocelab.table import Series, Table

__all__ = [
    "ConfigError",
    "CrowdedPictureWarning",
    "Interrupted",
    "Limits",
    "MemoryWarning",
    "MissingGlyphWarning",
    "MissingPackageError",
    "ModuleChoiceError",
    "Plan",
    "Progress",
    "Prototype",
    "RecordingError",
    "Result",
    "ResultError",
    "RocelabError",
    "Scenario",
    "Series",
    "SimulationError",
    "Sweep",
    "Table",
    "UnverifiedResultWarning",
    "__version__",
    "example",
    "load",
    "open",
    "open_sweep",
    "plot",
    "prototype",
    "report",
    "run",
    "schema",
    "schemes",
    "sweep",
    "topologies",
    "view",
    "workloads",
]

if not _typing.TYPE_CHECKING:
    # Nothing is imported before it is asked for: while the command imports, Ctrl-C is its own to
    # answer, and it is not there before this package is.
    _HOMES = {
        "ConfigError": "errors:ConfigError",
        "CrowdedPictureWarning": "errors:CrowdedPictureWarning",
        "Interrupted": "errors:Interrupted",
        "Limits": "prototypes:Limits",
        "MemoryWarning": "errors:MemoryWarning",
        "MissingGlyphWarning": "errors:MissingGlyphWarning",
        "MissingPackageError": "errors:MissingPackageError",
        "ModuleChoiceError": "errors:ModuleChoiceError",
        "Plan": "plan:Plan",
        "Progress": "simulate:Progress",
        "Prototype": "prototypes:Prototype",
        "RecordingError": "errors:RecordingError",
        "Result": "result:Result",
        "ResultError": "errors:ResultError",
        "RocelabError": "errors:RocelabError",
        "Scenario": "scenario:Scenario",
        "Series": "table:Series",
        "SimulationError": "errors:SimulationError",
        "Sweep": "sweeps:Sweep",
        "Table": "table:Table",
        "UnverifiedResultWarning": "errors:UnverifiedResultWarning",
        "__version__": "_rocelab:__version__",
        "example": "scenario:example",
        "load": "scenario:load",
        "open": "io.open:open_result",
        "open_sweep": "sweeps:open_sweep",
        "plot": "plot:",
        "prototype": "prototypes:prototype",
        "report": "report:",
        "run": "simulate:run",
        "schema": "catalogue:schema",
        "schemes": "catalogue:schemes",
        "sweep": "sweeps:sweep",
        "topologies": "catalogue:topologies",
        "view": "view:",
        "workloads": "catalogue:workloads",
    }
    """The module of each name, and what it is called there; nothing for the module itself."""
    _RENAMED = {"MemoryShortage": "MemoryWarning"}

    def __getattr__(name: str) -> object:
        if name in _RENAMED:
            raise AttributeError(f"{__name__}.{name} is called {_RENAMED[name]}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home, _, there = _HOMES[name].partition(":")
        module = _importlib.import_module(f"{__name__}.{home}")
        value = getattr(module, there) if there else module
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

    class _Finder:
        """Finds the compiled module of the user's choice under the name of the package's own."""

        @staticmethod
        def find_spec(name: str, *_: object) -> object:
            if name != f"{__name__}._rocelab":
                return None
            from rocelab._module import chosen_spec

            return chosen_spec()

    _sys.meta_path.insert(0, _Finder)
