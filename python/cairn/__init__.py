"""cairn: call-path performance data in Python.

>>> import cairn
>>> db = cairn.open("run.db")                     # doctest: +SKIP
>>> db.frame()                                    # doctest: +SKIP
>>> cairn.open("cairn.data").calls().frame()      # doctest: +SKIP
>>> cairn.open("shop").search("errors").frame()   # doctest: +SKIP

Results are tables: columns that numpy, pandas, polars and pyarrow use without copying.
"""

from ._cairn import version as __version__
from ._data import (
    Builder,
    Data,
    Database,
    Metric,
    Recorder,
    Recording,
    Search,
    Statistic,
    Store,
    Task,
    Thread,
    diff,
    formats,
    open,
)
from ._error import BusyError, Error
from ._frame import Table
from .hatchet import to_hatchet

__all__ = [
    "Builder",
    "BusyError",
    "Data",
    "Database",
    "Error",
    "Metric",
    "Recorder",
    "Recording",
    "Search",
    "Statistic",
    "Store",
    "Table",
    "Task",
    "Thread",
    "__version__",
    "diff",
    "formats",
    "open",
    "to_hatchet",
]
