"""Tables of results, readable by every library that speaks Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, overload, runtime_checkable

from rocelab.errors import MissingPackageError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class ArrowStream(Protocol):
    """Anything with the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule that holds an Arrow stream."""


@runtime_checkable
class _InPieces(Protocol):
    """A table of the simulator, which may be larger than memory."""

    def __len__(self) -> int:
        """How many rows it has."""

    def pieces(self) -> Iterator[ArrowStream]:
        """It in pieces that follow each other."""


class Table:
    """A table with named columns.

    It has the Arrow PyCapsule interface, so ``polars.DataFrame(table)``, ``pyarrow.table(table)``
    and ``pandas.DataFrame.from_arrow(table)`` read it.
    """

    _source: Callable[[], ArrowStream]
    _loaded: ArrowStream | None
    _frame: pl.DataFrame | None

    def __init__(self, source: Callable[[], ArrowStream]) -> None:
        """``source`` is called when the table is first looked at."""
        self._source = source
        self._loaded = None
        self._frame = None

    def _stream(self) -> ArrowStream:
        if self._loaded is None:
            self._loaded = self._source()
        return self._loaded

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow stream."""
        return self._stream().__arrow_c_stream__(requested_schema)

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars DataFrame."""
        if self._frame is None:
            import polars as pl

            stream = self._stream()
            self._frame = stream if isinstance(stream, pl.DataFrame) else pl.DataFrame(stream)
        return self._frame

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas DataFrame. Raises :class:`MissingPackageError` without pandas 3."""
        try:
            import pandas as pd

            return pd.DataFrame.from_arrow(self)
        except (ImportError, AttributeError):
            raise MissingPackageError(
                "to_pandas",
                "pandas 3 with pyarrow",
                install="pip install 'pandas>=3' pyarrow; or take to_polars()",
            ) from None

    @overload
    def __getitem__(self, columns: str) -> pl.Series: ...

    @overload
    def __getitem__(self, columns: list[str]) -> pl.DataFrame: ...

    def __getitem__(self, columns: str | list[str]) -> pl.Series | pl.DataFrame:
        """A column by its name, or several columns by a list of names, in polars' types.

        Raises :class:`KeyError` where there is no such column.
        """
        names = [columns] if isinstance(columns, str) else columns
        if not isinstance(names, list):
            raise TypeError(
                f"columns are named by a text or a list of texts, not by {columns!r}; "
                "to_polars() has a frame that filters rows"
            )
        known = self.columns
        for name in names:
            if name not in known:
                raise KeyError(f"no column {name!r}; the columns are {', '.join(known)}")
        frame = self.to_polars()
        return frame[columns] if isinstance(columns, str) else frame.select(names)

    def __contains__(self, column: object) -> bool:
        """Whether there is a column of this name."""
        return column in self.columns

    def __iter__(self) -> Iterator[object]:
        """Raises :class:`TypeError`: rows are those of ``to_polars()`` or ``to_pandas()``."""
        raise TypeError("a table has no rows by itself; to_polars().iter_rows(named=True) has them")

    if not TYPE_CHECKING:  # A type checker knows the names that there are.

        def __getattr__(self, name: str) -> object:
            """Raises :class:`AttributeError`, which says where methods of data frames are."""
            raise AttributeError(
                f"a table has no {name!r}; to_polars() and to_pandas() have frames",
                name=name,
                obj=self,
            )

    def pieces(self) -> Iterator[pl.DataFrame]:
        """The table in pieces that fit in memory, one after the other."""
        import polars as pl

        stream = self._stream()
        if self._frame is None and isinstance(stream, _InPieces):
            yield from (pl.DataFrame(piece) for piece in stream.pieces())
        else:
            yield self.to_polars()

    def __getstate__(self) -> dict[str, object]:
        # A table is pickled as what it holds: its source is a file, or memory of the simulator.
        frame = self.to_polars()
        return {**self.__dict__, "_source": None, "_loaded": frame, "_frame": frame}

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return self.to_polars().columns

    def __len__(self) -> int:
        stream = self._stream()
        return len(stream) if isinstance(stream, _InPieces) else len(self.to_polars())

    def __repr__(self) -> str:
        return repr(self.to_polars())

    def _repr_html_(self) -> str:
        return self.to_polars()._repr_html_()


class Series(Table):
    """What a probe saw: ``time_ps``, where or which flow, and the values."""

    name: str
    """The probe's name."""
    kind: str
    """What was measured: ``queue``, ``throughput``, ``window`` and so on."""
    unit: str
    """What it is measured in: ``bytes``, ``bps``, ``s``; empty for a plain number."""
    column: str
    """The column that holds the values, such as ``queue_bytes``."""

    def __init__(
        self, source: Callable[[], ArrowStream], *, name: str, kind: str, unit: str, column: str
    ) -> None:
        super().__init__(source)
        self.name = name
        self.kind = kind
        self.unit = unit
        self.column = column

    @cached_property
    def _places(self) -> pl.DataFrame:
        """The ports (``node``, ``port``) or flows (``flow_id``) that it has samples of."""
        keys = ["flow_id"] if "flow_id" in self.columns else ["node", "port"]
        return self.to_polars().select(keys).unique()
