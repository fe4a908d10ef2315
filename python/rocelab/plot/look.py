"""What a caller may choose of any picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from rocelab.errors import ConfigError

Scale = Literal["linear", "log"]
"""How an axis is divided."""

_SIZE_IN = (1.0, 50.0)
"""The least and the largest width and height of a picture, in inches."""


@dataclass(frozen=True)
class Look:
    """Notes, size and axes of a picture. ``None`` is what suits the data."""

    notes: bool | Sequence[str] = True
    """``True`` for ours, ``False`` for none, or others in their place."""
    size: tuple[float, float] | None = None
    """Width and height of the whole picture in inches."""
    x_scale: Scale | None = None
    y_scale: Scale | None = None

    def __post_init__(self) -> None:
        """Raises for what no picture can have."""
        if not isinstance(self.notes, bool) and not _are_lines(self.notes):
            raise TypeError(f"notes must be True, False or a list of lines, not {self.notes!r}")
        if self.size is not None:
            if not isinstance(self.size, Sequence):
                raise TypeError(f"size must be a pair of inches, such as (7, 3), not {self.size!r}")
            low, high = _SIZE_IN
            if len(self.size) != 2 or not all(low <= one <= high for one in self.size):
                raise ConfigError(
                    f"{self.size} is no size of a picture",
                    key="size",
                    hint=f"width and height in inches, {low:g} to {high:g}, such as (7, 3)",
                )
        for key, scale in (("x_scale", self.x_scale), ("y_scale", self.y_scale)):
            if scale is not None and scale not in get_args(Scale):
                raise ConfigError(f'must be "linear" or "log", not {scale!r}', key=key)

    def choose_notes(self, ours: Sequence[str]) -> list[str]:
        """What stands below the picture."""
        if isinstance(self.notes, bool):
            return list(ours) if self.notes else []
        return list(self.notes)


def _are_lines(notes: object) -> bool:
    """Returns whether ``notes`` is a list of texts, and no text itself."""
    if not isinstance(notes, Sequence) or isinstance(notes, str):
        return False
    return all(isinstance(line, str) for line in notes)


DEFAULT_LOOK = Look()
