"""Where the papers state what is claimed: ``claims.csv``.

A row is a number of a paper's text, or a statement without one, with the claim that judges it:
``paper``, ``figure``, ``claim``, ``number`` (empty without one), ``unit`` and ``place``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from io import StringIO

import polars as pl

Key = tuple[str, str, str]
"""Paper, figure and claim."""


@cache
def numbers() -> pl.DataFrame:
    """The table, a row for each number."""
    text = files("rocelab.papers").joinpath("claims.csv").read_text(encoding="utf-8")
    return pl.read_csv(StringIO(text), infer_schema=False).with_columns(
        pl.col("number").cast(pl.Float64)
    )


@cache
def places() -> Mapping[Key, str]:
    """By claims, where the paper states them; several places are in the order of the table."""
    found: dict[Key, list[str]] = {}
    for row in numbers().iter_rows(named=True):
        listed = found.setdefault((row["paper"], row["figure"], row["claim"]), [])
        if row["place"] not in listed:
            listed.append(row["place"])
    return {key: ", ".join(listed) for key, listed in found.items()}
