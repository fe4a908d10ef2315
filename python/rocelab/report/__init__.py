"""Reports: one HTML file about runs, sweeps and reproduced figures, which opens from disk.

``content.py`` collects what a report says as plain data, ``charts.py`` its interactive figures, and
``page.py`` makes the file of them. The file makes no network request: the plotting library, plotly,
is copied from its Python package into it, with its licence.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

__all__ = ["write_report"]


def write_report(
    directories: Sequence[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    metrics: Sequence[str] = (),
) -> Path:
    """Writes a report about results, a sweep, or reproduced figures to the file ``path``.

    ``metrics`` are those that tables and figures show, as ``"storage.slowdown_p99"``; a sweep is
    sorted by the first. By default they are slowdowns by tag, queues, pauses and drops.

    Raises :class:`ResultError` where a directory is none of these, or the file cannot be written,
    and :class:`MissingPackageError` without plotly.
    """
    from rocelab.io.files import check_output_file, write_atomic
    from rocelab.report.content import collect
    from rocelab.report.page import page

    if isinstance(directories, str | os.PathLike):
        raise TypeError(f"directories must be a list of paths, not {directories!r}")
    if isinstance(metrics, str):
        raise TypeError(f"metrics must be a list of names, not {metrics!r}")
    target = Path(path)
    check_output_file(target)
    write_atomic(target, page(collect([Path(one) for one in directories], metrics)).encode())
    return target
