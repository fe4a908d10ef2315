"""Writing pictures to files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocelab._warn import warn
from rocelab.errors import CrowdedPictureWarning, ResultError
from rocelab.io.files import write_atomic
from rocelab.plot.crowding import crowding
from rocelab.plot.theme import DPI, theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(
    drawn: Figure,
    stem: Path | str,
    formats: str | Sequence[str] = ("png", "svg"),
    *,
    dpi: int = DPI,
    follow: bool = True,
) -> list[Path]:
    """Writes ``drawn`` to ``stem`` with each format's ending; returns the paths.

    A file that is there is replaced by a whole one or stays.
    ``formats`` are one or several of those that matplotlib has. ``dpi`` is the resolution of
    bitmaps. The same picture gives the same bytes as ``png``, ``svg`` and ``pdf``. Without
    ``follow`` a link that is there is replaced, and not what it leads to.
    Warns of letters that no font has, and where the picture is too small for what it shows.
    """
    from matplotlib.figure import Figure

    from rocelab.plot.figure import LabelledFigure

    if not isinstance(drawn, Figure):
        raise TypeError(f"save takes a picture such as result.plot.fct(), not {drawn!r}")
    paths = []
    kinds = [formats] if isinstance(formats, str) else list(formats)
    known = drawn.canvas.get_supported_filetypes()
    for kind in kinds:
        if kind not in known:
            raise ResultError(f"no picture format {kind!r}; there are: {', '.join(sorted(known))}")
    # What is wrong is looked for once, whatever the formats.
    draw_to = drawn.draw_to if isinstance(drawn, LabelledFigure) else drawn.savefig
    with crowding(drawn) as faults:
        for kind in kinds:
            path = Path(f"{stem}.{kind}")
            buffer = io.BytesIO()
            dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
            # Most formats take no such argument, not even an empty one.
            dated: Any = {"metadata": dates[kind]} if kind in dates else {}
            with theme():
                try:
                    draw_to(buffer, format=kind, dpi=dpi, **dated)
                except RuntimeError as error:
                    # As pgf where there is no LaTeX.
                    raise ResultError(f"no picture as {kind}: {error}") from None
            write_atomic(path, buffer.getvalue(), follow=follow)
            paths.append(path)
    if isinstance(drawn, LabelledFigure):
        drawn.warn_of_boxes()
    for fault in faults:
        warn(CrowdedPictureWarning(f"{Path(stem).name}: {fault}"))
    return paths
