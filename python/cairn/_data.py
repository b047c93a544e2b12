"""Databases, recordings and stores."""

from __future__ import annotations

import os
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Union

from . import _cairn
from ._frame import Table

Path = Union[str, "os.PathLike[str]"]
_VIEWS = {"tree": 0, "flat": 1, "callers": 2}


class Thread(NamedTuple):
    """A thread of a database, or a summary over threads."""

    number: int
    identity: str
    """"RANK 3 THREAD 0"; "" for the summary over all threads, number 0."""
    name: Optional[str]
    value_count: int
    context_count: int
    is_summary: bool


class Metric(NamedTuple):
    """A kind of values of threads."""

    name: str
    scope: str
    id: int


class Statistic(NamedTuple):
    """A kind of values of summaries: combine(formula(value of each thread))."""

    metric: str
    scope: str
    formula: str
    combine: str
    id: int


class Task(NamedTuple):
    """A task (thread) of a recording."""

    number: int
    tid: int
    pid: int
    name: str
    parent: Optional[int]
    start_ns: int


class Data:
    """What Database, Recording and Store have in common."""

    def __init__(self, data: _cairn.Data) -> None:
        self._data = data
        self._info = data.info()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<cairn.{type(self).__name__} {self.path!r}, {self.format}>"

    def close(self) -> None:
        """Release the data; tables that were made of it stay valid."""
        self._data.close()

    @property
    def path(self) -> str:
        """The path that was opened; "" of data in memory."""
        return str(self._info["path"])

    @property
    def format(self) -> str:
        """The name of the format, as `cairn formats` lists it."""
        return str(self._info["format"])

    @property
    def warnings(self) -> list[str]:
        """What could not be read, or may surprise."""
        return self._data.warnings()

    def write(self, path: Path, format: str, replace: bool = False) -> list[tuple[str, int]]:
        """Write in another format, as `cairn convert`. Returns what it cannot represent."""
        return self._data.write(path, format, replace)


class Database(Data):
    """A database of calling contexts.

    >>> b = Builder("example")
    >>> seconds, thread = b.metric("time (sec)"), b.thread()
    >>> main = b.call(0, b.function("main"))
    >>> work = b.call(main, b.function("work"))
    >>> b.value(thread, main, seconds, 1.0)
    >>> b.value(thread, work, seconds, 3.0)
    >>> db = b.finish()
    >>> tree = db.tree()
    >>> tree.texts("name")[1:]
    ['main', 'work']
    >>> [round(x, 1) for x in memoryview(tree.buffer("time_sec_inclusive"))][1:]
    [4.0, 3.0]
    """

    @property
    def title(self) -> str:
        """The title: usually the name of the program."""
        return str(self._info["title"])

    @property
    def time_ns(self) -> tuple[int, int]:
        """The time that samples span, since the epoch; (0, 0) without samples."""
        return self._info["begin_ns"], self._info["end_ns"]

    @property
    def threads(self) -> list[Thread]:
        """Threads and summaries; number 0 is the summary over all threads."""
        return [Thread(i, *t[:4], bool(t[4])) for i, t in enumerate(self._data.threads())]

    @property
    def metrics(self) -> list[Metric]:
        """Metrics in each scope, with the ids that values() has."""
        return [Metric(*m) for m in self._data.metrics()]

    @property
    def statistics(self) -> list[Statistic]:
        """Statistics over threads, with the ids that values(0) has."""
        return [Statistic(*s) for s in self._data.statistics()]

    def _costs(
        self,
        view: int,
        metrics: Union[str, Sequence[str], None],
        threads: Optional[str],
        statistic: Optional[str],
        waits: bool,
        depth: int = 0,
        percent: float = 0,
    ) -> Table:
        names = [metrics] if isinstance(metrics, str) else list(metrics or [])
        is_all = names == ["all"]
        return Table(
            self._data.costs(
                view, [] if is_all else names, is_all, threads, statistic, waits, depth, percent
            )
        )

    def contexts(
        self,
        metrics: Union[str, Sequence[str], None] = None,
        threads: Optional[str] = None,
        statistic: Optional[str] = None,
        waits: bool = False,
    ) -> Table:
        """All contexts with their costs, callers before callees.

        metrics: names or their unique beginnings, "all", or None for the default metric.
        threads: "RANK 0-3 THREAD 0", or numbers "5-8"; None: all.
        statistic: over threads: sum (None), mean, min, max, stddev, count.
        waits: the default metric is all time, not running time.
        """
        return self._costs(-1, metrics, threads, statistic, waits)

    def frame(self, metrics: Union[str, Sequence[str], None] = None, **options: Any) -> Any:
        """contexts() as a frame of pandas, or of polars or pyarrow (library="polars")."""
        library = options.pop("library", None)
        return self.contexts(metrics, **options).frame(library)

    def view(
        self,
        view: str,
        metrics: Union[str, Sequence[str], None] = None,
        threads: Optional[str] = None,
        statistic: Optional[str] = None,
        waits: bool = False,
        depth: int = 0,
        min_percent: float = 0,
    ) -> Table:
        """The rows of `cairn tree`, `flat` or `callers`, in the order shown there."""
        return self._costs(_VIEWS[view], metrics, threads, statistic, waits, depth, min_percent)

    def tree(self, *args: Any, **options: Any) -> Table:
        """Contexts from callers to callees: view("tree", ...)."""
        return self.view("tree", *args, **options)

    def flat(self, *args: Any, **options: Any) -> Table:
        """Costs by module, file, function, loop and line: view("flat", ...)."""
        return self.view("flat", *args, **options)

    def callers(self, *args: Any, **options: Any) -> Table:
        """Functions with their callers: view("callers", ...)."""
        return self.view("callers", *args, **options)

    def values(self, thread: Optional[int] = None) -> Table:
        """The values of a thread: context, metric (an id), value; None: of all threads."""
        return Table(self._data.values(-1 if thread is None else thread))

    def context_values(self, context: int) -> _cairn.Records:
        """The values of a context over threads; numpy.asarray() of it has value, thread, metric."""
        return self._data.context_values(context)

    def samples(self, thread: Optional[int] = None) -> Table:
        """The samples of a thread: time_ns, context; None: of all threads."""
        return Table(self._data.samples(-1 if thread is None else thread))

    def states(self, thread: Optional[int] = None) -> Table:
        """When a thread was running, blocked or pre-empted: begin_ns, end_ns, state; None: all threads.

        Without switches (`cairn sample --off-cpu`) states are unknown, and the table is empty.
        """
        return Table(self._data.states(-1 if thread is None else thread))

    def waits(self) -> Table:
        """Every time that a thread waited: thread, begin_ns, woken_ns, end_ns, kind, context, waker, waker_context, is_inferred, lock.

        `cairn waits` adds them up (docs/waits.md). Without switches (`cairn sample --off-cpu`) the table is empty.
        """
        return Table(self._data.waits())

    def locks(self) -> Table:
        """The locks that threads waited for, a row for each place that gave one back, as `cairn waits --locks`."""
        return Table(self._data.locks())

    def mpi_waits(self) -> Table:
        """The calls of MPI that wait: rank, begin_ns, end_ns, wait_ns, cause, path, late_rank, late_path.

        `cairn mpi` adds them up (docs/mpi-waits.md). Where the cause is "unknown", so are the last two and wait_ns.
        """
        return Table(self._data.mpi_waits())

    def launches(self) -> Table:
        """Operations of GPUs with the calls that launched them, by stream and time.

        Columns: thread, launch_ns, stream (a thread as well), begin_ns, end_ns, context. The last two are null where
        the timeline of the stream does not tell. A database keeps the first 1,048,576.
        """
        return Table(self._data.launches())


class Recording(Data):
    """A recording of calls.

    >>> r = Recorder("example")
    >>> task = r.task(1, 1, "main")
    >>> r.call(task, "main", 100, 900)
    >>> r.call(task, "work", 200, 500)
    >>> rec = r.finish()
    >>> calls = rec.calls()
    >>> list(zip(calls.texts("name"), memoryview(calls.buffer("total_ns"))))
    [('work', 500), ('main', 900)]
    >>> sum(len(batch) for batch in rec.events(0))
    4
    """

    @property
    def tasks(self) -> list[Task]:
        """Tasks (threads) in the order of their ids."""
        return [
            Task(i, tid, pid, name, None if parent < 0 else parent, start_ns)
            for i, (tid, pid, name, parent, start_ns) in enumerate(self._data.tasks())
        ]

    def _calls(
        self,
        what: int,
        from_ns: int,
        to_ns: int,
        tasks: Sequence[int],
        raw: bool,
        values: bool,
    ) -> Table:
        return Table(self._data.calls(what, from_ns, to_ns, sorted(tasks), raw, values))

    def calls(
        self,
        from_ns: int = 0,
        to_ns: int = 0,
        tasks: Sequence[int] = (),
        raw: bool = False,
        values: bool = False,
    ) -> Table:
        """One row per call: task, tid, depth, name, function, begin_ns, end_ns, total_ns, self_ns.

        from_ns, to_ns: recorded times, both included; 0: no limit.
        raw: total_ns and self_ns as recorded, not corrected for the cost of recording.
        values: columns of arguments and results.
        """
        return self._calls(0, from_ns, to_ns, tasks, raw, values)

    def frame(self, library: Optional[str] = None, **options: Any) -> Any:
        """calls() as a frame."""
        return self.calls(**options).frame(library)

    def report(
        self, from_ns: int = 0, to_ns: int = 0, tasks: Sequence[int] = (), raw: bool = False
    ) -> Table:
        """Time and calls per function, as `cairn report`."""
        return self._calls(1, from_ns, to_ns, tasks, raw, False)

    def states(self, from_ns: int = 0, to_ns: int = 0, tasks: Sequence[int] = ()) -> Table:
        """How long each task was running, blocked, pre-empted and without data.

        Columns: task, tid, state, ns, outside_ns (of ns, while no call was open), as `cairn report
        --task`. Without scheduler events states are unknown, and the table is empty.
        """
        return self._calls(2, from_ns, to_ns, tasks, True, False)

    def flows(self) -> Table:
        """Arrows from a call to one of another task.

        Columns: from_task, from_ns, from_depth, to_task, to_ns, name. A null depth is that of the
        innermost call.
        """
        return Table(self._data.flows())

    def launches(self) -> Table:
        """Operations of GPUs with the calls that launched them, by time.

        Columns: task, launch_ns (both null where the launch is unknown), stream (a task as well), begin_ns, end_ns,
        function (a number), bytes (of copies and memsets).
        """
        return Table(self._data.launches())

    def events(self, task: int, from_ns: int = 0, to_ns: int = 0) -> Iterator[_cairn.Records]:
        """The records of a task in batches; numpy.asarray(batch) is a structured array.

        Reading releases the GIL: threads may read tasks at the same time.
        """
        return self._data.events(task, from_ns, to_ns)

    def analyze(self) -> Database:
        """The database that `cairn analyze` makes of the recording."""
        return Database(self._data.analyze())


class Search:
    """A query of a store; nothing is read before a result is asked for."""

    def __init__(self, store: Store, query: str) -> None:
        self._store, self.query = store, query

    def __len__(self) -> int:
        return self._store._data.count(self.query)

    def table(
        self,
        sort: Optional[str] = None,
        reverse: bool = False,
        spans: bool = False,
        offset: int = 0,
        limit: int = 0,
    ) -> Table:
        """Traces, or spans. sort: time (None), duration, spans, calls, errors, records."""
        return Table(self._store._data.search(self.query, sort, reverse, spans, offset, limit))

    def frame(self, library: Optional[str] = None, **options: Any) -> Any:
        """table() as a frame."""
        return self.table(**options).frame(library)

    def groups(self, by: str, spans: bool = False) -> Table:
        """Counts, errors and latencies by a field or attribute."""
        return Table(self._store._data.groups(self.query, by, spans))

    def calls(self) -> Recording:
        """The calls of the traces, as a recording."""
        return Recording(self._store._data.store_calls(self.query))


class Store(Data):
    """A store of request traces."""

    def search(self, query: str = "") -> Search:
        """Traces that match a query of `cairn store search`: "errors last 2h"; or one in TraceQL: "{ status = error }"."""
        return Search(self, query)

    def analyze(self) -> Database:
        """The database of all calls of the store."""
        return Database(self._data.analyze())


class Builder(_cairn.Builder):
    """A database from a program's own data; see Database for an example."""

    def finish(self) -> Database:  # type: ignore[override]
        """The database."""
        return Database(super().finish())


class Recorder(_cairn.Recorder):
    """A recording from a program's own data; see Recording for an example."""

    def finish(self) -> Recording:  # type: ignore[override]
        """The recording."""
        return Recording(super().finish())


_CLASSES = {"database": Database, "recording": Recording, "store": Store}


def open(path: Path) -> Any:
    """Open data of any format: a Database, a Recording or a Store.

    >>> open("nothing.db")
    Traceback (most recent call last):
        ...
    cairn._error.Error: nothing.db: no such file or directory
    """
    data = _cairn.open(path)
    return _CLASSES[data.info()["shape"]](data)


def _databases(runs: Any) -> list[_cairn.Data]:
    found = []
    for run in runs if isinstance(runs, (list, tuple)) else [runs]:
        opened = run if isinstance(run, Data) else open(run)
        database = opened if isinstance(opened, Database) else opened.analyze()
        found.append(database._data)
    return found


def diff(
    a: Any,
    b: Any,
    metric: Optional[str] = None,
    threads_a: Optional[str] = None,
    threads_b: Optional[str] = None,
    view: Optional[str] = None,
) -> Table:
    """What changed between two runs, or two lists of runs: data or paths.

    Without a view, what explains the difference, the largest change first; with "tree", "flat"
    or "callers" every row that changed.

    >>> def run(seconds):
    ...     b = Builder("example")
    ...     metric, thread = b.metric("time (sec)"), b.thread()
    ...     b.value(thread, b.call(0, b.function("main")), metric, seconds)
    ...     return b.finish()
    >>> change = diff(run(1.0), run(1.5))
    >>> change.texts("name"), memoryview(change.buffer("difference"))[0]
    (['main'], 0.5)
    """
    number = -1 if view is None else _VIEWS[view]
    return Table(
        _cairn.diff(_databases(a), _databases(b), metric, threads_a, threads_b, number)
    )


def formats() -> dict[str, bool]:
    """Names of formats, and whether they can be written.

    >>> formats()["hpctoolkit-v4"]
    True
    """
    return {name: bool(writable) for name, writable in _cairn.formats()}
