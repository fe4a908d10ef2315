"""The fabric view: one page that shows how congestion spreads through the network of a run.

``tree.py`` finds the congestion trees, ``data.py`` collects what the page shows, and ``page.py``
makes the file of it, with the scripts that draw it. The file loads nothing from elsewhere.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_view"]


def write_view(directory: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Writes the view of the result in ``directory`` to the file ``path``.

    Raises :class:`ResultError` where the result lacks the series of the probe preset ``view``, or
    the file cannot be written.
    """
    from rocelab.io.files import check_output_file, write_atomic
    from rocelab.io.open import check_files, open_result
    from rocelab.view.data import collect
    from rocelab.view.page import page

    target = Path(path)
    check_output_file(target)
    result = open_result(Path(directory))
    check_files(result)
    write_atomic(target, page(collect(result)).encode())
    return target
