"""A laboratory for congestion control in lossless RDMA (RoCEv2) networks.

>>> import rocelab
>>> scenario = rocelab.Scenario(
...     topology={"kind": "star", "hosts": 3, "host_rate": "100Gbps", "host_delay": "1us"},
...     traffic=[{"kind": "incast", "senders": 2, "receiver": "h2", "size": "100KB"}],
...     scheme={"name": "dcqcn"},
... )
>>> result = rocelab.run(scenario)
>>> result.summary["flows_done"]
2

Quantities are written with their unit. Names are those of scenario files, which
``rocelab schema`` describes.
"""

import warnings as _warnings

from rocelab import plot
from rocelab._rocelab import DEBUG_BUILD as _DEBUG_BUILD
from rocelab._rocelab import __version__
from rocelab.catalogue import schema, schemes, topologies, workloads
from rocelab.errors import (
    ConfigError,
    Interrupted,
    ResultError,
    RocelabError,
    SimulationError,
)
from rocelab.plan import Plan
from rocelab.result import Result
from rocelab.scenario import Scenario, load
from rocelab.simulate import Progress, run
from rocelab.store import open_result as open  # noqa: A004 - read as `rocelab.open(dir)`
from rocelab.sweeps import Sweep, sweep
from rocelab.table import Series, Table

__all__ = [
    "ConfigError",
    "Interrupted",
    "Plan",
    "Progress",
    "Result",
    "ResultError",
    "RocelabError",
    "Scenario",
    "Series",
    "SimulationError",
    "Sweep",
    "Table",
    "__version__",
    "load",
    "open",
    "plot",
    "run",
    "schema",
    "schemes",
    "sweep",
    "topologies",
    "workloads",
]

if _DEBUG_BUILD:
    _warnings.warn(
        "rocelab was built for development: it checks itself as it runs, and is slower; "
        "build it with `pip install .` or `maturin develop --release`",
        RuntimeWarning,
        stacklevel=2,
    )
