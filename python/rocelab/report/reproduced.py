"""Reads what ``rocelab reproduce`` wrote about figures."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocelab.errors import ResultError
from rocelab.io.layout import SUMMARY
from rocelab.io.read import read_bytes, read_text

if TYPE_CHECKING:
    import polars as pl

_CLAIMS = "claims.json"
"""What the directory of a reproduced figure holds."""
_DATA = "data.parquet"
"""What its picture shows."""
_KEYS = (
    "kind",
    "claim",
    "paper",
    "expected",
    "measured",
    "verdict",
    "by",
    "assumption",
    "reason",
)
"""What is read of each claim."""
_MAX_CLAIMS_BYTES = 1 << 24
_MAX_DATA_BYTES = 1 << 27
_COLUMNS = {"panel", "line", "index", "x", "word", "y", "spread", "x_label", "y_label"}


@dataclass(frozen=True)
class Reproduced:
    """A figure that was made again."""

    name: str
    """Its id, such as ``fncc/fig9``."""
    directory: Path
    claims: list[dict[str, str]]
    """The paper's and our own, each with the keys ``_KEYS``."""
    shows: str
    """Its title, and where it was published."""
    source: str
    """The paper that published it."""
    quick: bool
    """Whether its runs are smaller than the paper's."""
    notes: list[str]
    """What a reader must know."""
    options: str
    """The options of the command that makes it again."""
    version: str
    """The version of rocelab that made it; empty where that was not written."""
    seeds: list[str]
    """The seeds of its runs."""
    panels: Mapping[str, Mapping[str, Any]]
    """How its panels are drawn, by title: ``x_range``, ``y_range``, ``log_x``, ``log_y``."""

    def judged(self, kind: str) -> list[dict[str, str]]:
        """Its claims of a kind: ``paper`` or ``ours``."""
        return [claim for claim in self.claims if (claim["kind"] == "ours") == (kind == "ours")]

    def data(self) -> pl.DataFrame | None:
        """The points of all panels, if they are there."""
        import polars as pl

        path = self.directory / _DATA
        if not path.is_file():
            return None
        try:
            frame = pl.read_parquet(io.BytesIO(read_bytes(path, _MAX_DATA_BYTES)))
        except (OSError, pl.exceptions.PolarsError) as error:
            raise ResultError(f"{path}: damaged: {error}") from None
        if _COLUMNS.difference(frame.columns):
            raise ResultError(f"{path}: damaged: it lacks columns")
        return frame


def reproduced(directory: Path) -> Iterator[Reproduced]:
    """The figures in ``directory``, or the one that it is."""
    if (directory / SUMMARY).is_file():
        return
    for path in sorted(directory.rglob(_CLAIMS)):
        place = path.parent.relative_to(directory).as_posix()
        name = directory.name if place == "." else place
        try:
            yield _read(path, json.loads(read_text(path, _MAX_CLAIMS_BYTES)), name)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ResultError(f"{path}: damaged: {error}") from None


def _read(path: Path, told: dict[str, Any], name: str) -> Reproduced:
    claims = [{key: str(one.get(key, "")) for key in _KEYS} for one in map(dict, told["claims"])]
    panels = [dict(one) for one in told.get("panels", [])]
    return Reproduced(
        name=str(told.get("id", name)),
        directory=path.parent,
        claims=claims,
        source=str(told.get("paper", "")),
        quick=told.get("quick") is True,
        shows="; ".join(str(told[key]) for key in ("title", "paper") if told.get(key)),
        notes=[str(one) for one in told.get("notes", [])],
        options="".join(f" {shlex.quote(str(one))}" for one in told.get("options", [])),
        version=str(told.get("version", "")),
        seeds=[str(one) for one in told.get("seeds", [])],
        panels={str(one["title"]): one for one in panels},
    )
