"""Which simulator made a result."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from rocelab import _rocelab


@cache
def simulator_hash() -> str:
    """The hash of the simulator's binary, which differs from build to build."""
    return hashlib.sha256(Path(_rocelab.__file__).read_bytes()).hexdigest()
