"""Databases as GraphFrames of Hatchet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._data import Database

# What Hatchet calls the kinds of identities that are not levels of its index.
_KINDS = {"NODE": "node_pid", "CORE": "core", "RANK": "rank", "THREAD": "thread"}
_LEVELS = ("rank", "thread")
_TIMES = ("CPUTIME (sec)", "CPUTIME (usec)")


def _identity(text: str) -> dict[str, int]:
    """ "RANK 3 THREAD 0" as {"rank": 3, "thread": 0}."""
    words = text.split()
    return {
        _KINDS.get(kind, kind.lower()): int(number, 0)
        for kind, number in zip(words[::2], words[1::2])
    }


def _names(contexts: Any, kinds: list[Any], files: list[Any], lines: Any) -> list[str]:
    """The names that Hatchet gives: functions, FILE:LINE, Loop@FILE:LINE, MODULE:OFFSET."""
    names: list[str] = contexts.texts("name")
    modules = contexts.texts("module")
    offsets, relations = contexts["offset"], contexts.texts("relation")
    for i, kind in enumerate(kinds):
        if kind == "line":
            names[i] = f"{files[i]}:{lines[i]}"
        elif kind == "loop":
            names[i] = f"Loop@{files[i]}:{lines[i]}"
        elif kind == "instruction":
            names[i] = f"{modules[i]}:{int(offsets[i]):#x}"
        elif kind == "entry":
            names[i] = names[i].strip("<>")
        elif relations[i] == "inlined call":
            names[i] = names[i].removesuffix(" (inlined)")
    return names


def _nodes(contexts: Any, columns: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """A Node for each context, and the roots."""
    from hatchet.frame import Frame
    from hatchet.node import Node

    ids, parents = contexts["id"].tolist(), contexts["parent"].tolist()
    by_id: dict[int, Any] = {}
    nodes: list[Any] = []
    roots: list[Any] = []
    for i, kind in enumerate(columns["type"]):
        if kind in ("line", "loop"):
            about = {"type": kind, "file": columns["file"][i], "line": columns["line"][i]}
        elif kind == "instruction":
            about = {"type": kind, "module": columns["module"][i]}
        else:
            about = {"type": "function"}
        parent = by_id.get(parents[i])
        node = Node(Frame({**about, "name": columns["name"][i]}), parent=parent, hnid=i)
        (roots if parent is None else parent.children).append(node)
        by_id[ids[i]] = node
        nodes.append(node)
    return nodes, roots


def _costs(db: Database, ids: Any, threads: list[Any]) -> dict[str, Any]:
    """Column name: an array of contexts by threads; totals are called "NAME (inc)"."""
    import numpy

    values = db.values()
    row_of = numpy.full(int(ids.max(initial=0)) + 1, -1, dtype=numpy.int64)
    row_of[ids] = numpy.arange(len(ids))
    thread_of = numpy.full(len(db.threads), -1, dtype=numpy.int64)
    thread_of[[t.number for t in threads]] = numpy.arange(len(threads))
    context, metric = values["context"], values["metric"]
    known = context < len(row_of)
    found = {}
    for name, scope, number in db.metrics:
        if scope not in ("execution", "function"):
            continue
        chosen = numpy.flatnonzero(known & (metric == number))
        rows, columns = row_of[context[chosen]], thread_of[values["thread"][chosen]]
        shown = rows >= 0
        costs = numpy.zeros((len(ids), len(threads)))
        costs[rows[shown], columns[shown]] = values["value"][chosen][shown]
        title = "time" if name in _TIMES else name
        found[f"{title} (inc)" if scope == "execution" else title] = costs
    return found


def to_hatchet(db: Database) -> Any:
    """The GraphFrame of a database: one row for each context and thread.

    It has the nodes, names, types and metrics of Hatchet's own reader of HPCToolkit 4.0, for
    databases of every format. The file and line of a function are those of its own context, None
    and -1 where it has none. Needs Hatchet, pandas and numpy.
    """
    import numpy
    import pandas
    from hatchet.graph import Graph
    from hatchet.graphframe import GraphFrame

    contexts = db.contexts()
    threads = [t for t in db.threads if not t.is_summary]
    kinds, files = contexts.texts("kind"), contexts.texts("file")
    lines, modules = contexts["line"].astype("int64"), contexts.texts("module")
    names = _names(contexts, kinds, files, lines)
    lines[contexts["line"] == 0] = -1
    columns = {
        "name": names,
        "type": ["function" if kind == "entry" else kind for kind in kinds],
        "file": files,
        "line": lines.tolist(),
        "module": modules,
    }
    nodes, roots = _nodes(contexts, columns)
    graph = Graph(roots)
    graph.enumerate_traverse()
    order = numpy.argsort([node._hatchet_nid for node in nodes], kind="stable")
    repeated = numpy.repeat(order, len(threads))
    objects = numpy.empty(len(nodes), dtype=object)
    objects[:] = nodes
    frame = {"node": objects[repeated]}
    identities = [_identity(t.identity) for t in threads]
    for kind in dict.fromkeys(kind for identity in identities for kind in identity):
        numbers = [identity.get(kind, 0) for identity in identities]
        frame[kind] = numpy.tile(numpy.array(numbers, dtype=numpy.int64), len(nodes))
    for name, texts in columns.items():
        frame[name] = pandas.Series(texts, dtype=None if name == "line" else object).array[repeated]
    costs = _costs(db, contexts["id"], threads)
    for name, matrix in costs.items():
        frame[name] = matrix[order].reshape(-1)
    levels = ["node"] + [level for level in _LEVELS if level in frame]
    inclusive = [name for name in costs if name.endswith(" (inc)")]
    exclusive = [name for name in costs if not name.endswith(" (inc)")]
    return GraphFrame(
        graph,
        pandas.DataFrame(frame).set_index(levels),
        exc_metrics=exclusive,
        inc_metrics=inclusive,
        default_metric="time" if "time" in costs else exclusive[0] if exclusive else "time",
    )
