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
        MemoryShortage,
        MissingGlyphWarning,
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
    "MemoryShortage",
    "MissingGlyphWarning",
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
        "_rocelab": ("__version__",),
        "catalogue": ("schema", "schemes", "topologies", "workloads"),
        "errors": (
            "ConfigError",
            "CrowdedPictureWarning",
            "Interrupted",
            "MemoryShortage",
            "MissingGlyphWarning",
            "RecordingError",
            "ResultError",
            "RocelabError",
            "SimulationError",
            "UnverifiedResultWarning",
        ),
        "plan": ("Plan",),
        "plot": ("plot",),
        "prototypes": ("Limits", "Prototype", "prototype"),
        "report": ("report",),
        "result": ("Result",),
        "scenario": ("Scenario", "example", "load"),
        "simulate": ("Progress", "run"),
        "io.open": ("open",),
        "sweeps": ("Sweep", "open_sweep", "sweep"),
        "table": ("Series", "Table"),
        "view": ("view",),
    }
    _HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

    def __getattr__(name: str) -> object:
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = _importlib.import_module(f"{__name__}.{home}")
        value = module if name == home else getattr(module, {"open": "open_result"}.get(name, name))
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
