"""Tables as frames of pandas, polars or Arrow, and as numpy arrays."""

from __future__ import annotations

from typing import Any, Optional

from . import _cairn


class Table:
    """A result: named columns of equal length.

    Any consumer of Arrow's PyCapsule protocol takes it without copying: ``polars.DataFrame(t)``,
    ``pyarrow.table(t)``. ``t["total_ns"]`` is a numpy array of the same memory.

    >>> import cairn
    >>> b = cairn.Builder("example")
    >>> seconds, thread = b.metric("time (sec)"), b.thread()
    >>> main = b.call(0, b.function("main"))
    >>> b.value(thread, main, seconds, 1.5)
    >>> t = b.finish().contexts()
    >>> len(t), t.columns[:3]
    (2, ['id', 'parent', 'depth'])
    >>> t.texts("name")[1]
    'main'
    """

    def __init__(self, table: _cairn.Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<cairn.Table: {len(self)} rows, {', '.join(self.columns)}>"

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._table.columns

    @property
    def damage(self) -> Optional[str]:
        """What damaged data left out, or None."""
        return self._table.damage

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __getitem__(self, name: str) -> Any:
        """A column as a numpy array: of numbers without copying, of texts as objects."""
        import numpy

        column = self._table[name]
        if column.type in ("text", "category"):
            return numpy.array(self.texts(name), dtype=object)
        return numpy.asarray(column)

    def texts(self, name: str) -> list[Optional[str]]:
        """The texts of a column, None where unknown."""
        column = self._table[name]
        if column.type != "category":
            return column.texts()
        texts = column.texts()
        return [texts[code] if code >= 0 else None for code in memoryview(self.buffer(name))]

    def buffer(self, name: str) -> Any:
        """A column that supports the buffer protocol; of a category its codes."""
        return self._table[name]

    def mask(self, name: str) -> Any:
        """A numpy array that is True where a column is unknown; None if all is known."""
        import numpy

        mask = self._table[name].mask()
        return None if mask is None else numpy.frombuffer(mask, dtype=bool)

    def _series(self, name: str) -> Any:
        import numpy
        import pandas

        column = self._table[name]
        if column.type == "category":
            return pandas.Categorical.from_codes(numpy.asarray(column), column.texts())
        if column.type == "text":
            return numpy.array(column.texts(), dtype=object)
        values, mask = numpy.asarray(column), self.mask(name)
        if mask is None or column.type == "float64":
            return values
        return pandas.arrays.IntegerArray(values, mask)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Numbers are not copied; names are categories."""
        import pandas

        return pandas.DataFrame({n: self._series(n) for n in self.columns}, copy=False)

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        import pyarrow

        return pyarrow.table(self)

    def frame(self, library: Optional[str] = None) -> Any:
        """A frame of "pandas", "polars" or "pyarrow"; by default of the first that is installed."""
        makers = {"pandas": self.to_pandas, "polars": self.to_polars, "pyarrow": self.to_arrow}
        if library is not None:
            return makers[library]()
        for make in makers.values():
            try:
                return make()
            except ModuleNotFoundError:
                continue
        raise ModuleNotFoundError("a frame needs pandas, polars or pyarrow")
