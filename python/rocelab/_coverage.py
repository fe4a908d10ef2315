"""How many of the flows of runs their statistics cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class _Counted(Protocol):
    """A summary, or a part of one."""

    @property
    def flows(self) -> int: ...
    @property
    def flows_done(self) -> int: ...


@dataclass(frozen=True)
class Coverage:
    """How many flows were done: slowdowns and completion times are of these alone.

    Its text is such as ``1,987 of 2,000``.
    """

    done: int
    flows: int
    """All of them, done or not."""

    @classmethod
    def of(cls, *parts: _Counted) -> Coverage:
        """That of all ``parts`` together."""
        return cls(sum(one.flows_done for one in parts), sum(one.flows for one in parts))

    @property
    def complete(self) -> bool:
        """Whether all flows were done."""
        return self.done >= self.flows

    def __str__(self) -> str:
        return f"{self.done:,} of {self.flows:,}"
