"""What tests look at in pictures."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from rocelab.plot import theme


def png_size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def assert_picture(paths: list[Path]) -> None:
    png, svg = paths
    width, _ = png_size(png.read_bytes())
    assert width == pytest.approx(theme.WIDTH_IN * theme.DPI, abs=2)
    text = svg.read_text()
    assert text.startswith("<?xml")
    assert "dc:date" not in text


def legend_texts(drawn: Figure) -> list[str]:
    (legend,) = drawn.legends
    return [text.get_text() for text in legend.get_texts()]
