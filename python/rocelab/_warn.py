"""Warnings that name the user's own line."""

from __future__ import annotations

import sys
import warnings


def warn(warning: Warning) -> None:
    """Warns at the first caller outside of this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "rocelab"
